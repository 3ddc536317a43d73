export interface Survey {
  /** True where a number or a name is written as JSON.stringify might not write it. */
  isOdd: boolean;
  /** Names in all, repeated ones as often as they stand there. */
  names: number;
  depth: number;
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Looks over the text of a JSON value once, without making anything of it. */
export function surveyOf(text: string): Survey {
  const survey: Survey = { isOdd: false, names: 0, depth: 0 };
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const first = text.charCodeAt(at + 1);
      at = stringEnd(text, at);
      // A value that begins so is looked at for nothing, which costs less than to know that it is no name.
      if (isDigit(first) || first === BACKSLASH) survey.isOdd ||= isNameBehind(text, at);
      at -= 1;
    } else if (code === COLON) survey.names += 1;
    else if (code === MINUS || isDigit(code)) {
      const end = numberEnd(text, at);
      survey.isOdd ||= isOddNumber(text, at, end);
      at = end - 1;
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > survey.depth) survey.depth = depth;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return survey;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isNameBehind(text: string, end: number): boolean {
  let at = end;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return text.charCodeAt(at) === COLON;
}

/** Digits that every double keeps. */
const SAFE_DIGITS = 15;

function isOddNumber(text: string, start: number, end: number): boolean {
  const isShort = end - start <= SAFE_DIGITS;
  let isWhole = text.charCodeAt(start) !== MINUS;
  for (let at = start; at < end && isWhole; at += 1) isWhole = isDigit(text.charCodeAt(at));
  if (isShort && isWhole) return false;
  const source = text.slice(start, end);
  return JSON.stringify(Number(source)) !== source;
}

/** One past the closing quote of the string that opens at `start`; the end of the text where it never closes. */
export function stringEnd(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
}

/** One past the last character of the number that begins at `start`. */
export function numberEnd(text: string, start: number): number {
  let end = start + 1;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    // Digits, +, -, ., e, E.
    if (!isDigit(code) && code !== 0x2b && code !== MINUS && code !== 0x2e && (code | 0x20) !== 0x65) break;
  }
  return end;
}
