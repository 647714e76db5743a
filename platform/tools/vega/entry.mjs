// What static/evaluation/charts.js takes of Vega: nothing else is in the bundle's names.
export { parse, View, Warn } from "vega";
export { compile } from "vega-lite";
export { expressionInterpreter } from "vega-interpreter";
