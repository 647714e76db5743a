// Writes static/vendor/vega: one module without dependencies, and the licences of all in it.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { copyFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";

const folder = new URL("../../../static/vendor/vega/", import.meta.url);
await mkdir(folder, { recursive: true });
// The packages below "vega" each bring copies of one another; its own build has each once. It is a
// script of the old kind, which its name must say.
const whole = fileURLToPath(new URL("node_modules/vega.cjs", import.meta.url));
await copyFile("node_modules/vega/build/vega.js", whole);
await build({
  entryPoints: ["entry.mjs"],
  outfile: new URL("vega.js", folder).pathname,
  bundle: true,
  alias: Object.fromEntries(
    ["vega", "vega-util", "vega-event-selector", "vega-expression"].map((name) => [name, whole]),
  ),
  format: "esm",
  minify: true,
  target: "es2022",
  legalComments: "none",
  banner: { js: "/* Vega, Vega-Lite and what they rest on; see LICENSES.txt beside this file. */" },
});
const { packages } = JSON.parse(await readFile("package-lock.json", "utf8"));
const names = Object.keys(packages)
  .filter((path) => path && !packages[path].dev)
  .map((path) => path.replace(/^node_modules\//, ""));
const texts = [];
for (const name of names.sort()) {
  const root = `node_modules/${name}/`;
  const { version, license } = JSON.parse(await readFile(`${root}package.json`, "utf8"));
  const file = (await readdir(root)).find((one) => /^licen[sc]e/i.test(one));
  const text = file ? await readFile(root + file, "utf8") : "";
  texts.push(`${name} ${version} (${license})\n\n${text.trim()}`.trim());
}
await writeFile(new URL("LICENSES.txt", folder), texts.join(`\n\n${"-".repeat(72)}\n\n`) + "\n");
