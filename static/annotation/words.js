// Compares two texts word by word: the longest common subsequence, and what lies between.

const MOST_CELLS = 4_000_000;

export function splitWords(text) {
  return text.split(/\s+/u).filter(Boolean);
}

/** Return parts `{ kind, words }` with the kinds "same", "removed" and "added", in reading order,
 * removed before added; null where the texts are too long to be compared while somebody types. */
export function compareWords(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start && end < after.length - start
    && before[before.length - 1 - end] === after[after.length - 1 - end]
  ) end += 1;
  const left = before.slice(start, before.length - end);
  const right = after.slice(start, after.length - end);
  if (left.length * right.length > MOST_CELLS) return null;
  const parts = [];
  add(parts, "same", before.slice(0, start));
  align(left, right, parts);
  add(parts, "same", before.slice(before.length - end));
  return parts;
}

function add(parts, kind, words) {
  if (!words.length) return;
  const last = parts.at(-1);
  if (last?.kind === kind) last.words.push(...words);
  else parts.push({ kind, words: [...words] });
}

function align(left, right, parts) {
  const width = right.length + 1;
  // lengths[i * width + j]: longest common subsequence of left from i on and right from j on.
  const lengths = new Uint16Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = left[i] === right[j]
        ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  let removed = [];
  let added = [];
  const flush = () => {
    add(parts, "removed", removed);
    add(parts, "added", added);
    removed = [];
    added = [];
  };
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    if (left[i] === right[j]) {
      flush();
      add(parts, "same", [left[i]]);
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
      removed.push(left[i]);
      i += 1;
    } else {
      added.push(right[j]);
      j += 1;
    }
  }
  removed.push(...left.slice(i));
  added.push(...right.slice(j));
  flush();
}
