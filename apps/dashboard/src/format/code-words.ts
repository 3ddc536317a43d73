/** Returns a name of the API with spaces. */
export function spaced(name: string): string {
  return name.replaceAll('_', ' ');
}

/** Returns a code of the API as the beginning of a sentence. */
export function codeWords(code: string): string {
  return spaced(code).replace(/^[a-z]/, (letter) => letter.toUpperCase());
}
