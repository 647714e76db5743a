// What the server tells the editor: kinds of steps, languages, questions, and its words.
export const config = JSON.parse(document.getElementById("flow-config").textContent);
