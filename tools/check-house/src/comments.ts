import { type Finding, type SourceTree, sources } from './tree.js';

/**
 * Words that open half a sentence: relative and interrogative pronouns, bare prepositions, lone participles. A reader
 * has to find the subject in the declaration below and read the comment again.
 */
const HALF_SENTENCES =
  /^(?:Above|After|Against|As|Asked|At|Because|Before|Behind|Below|Beside|Between|Beyond|By|For|Found|From|Given|Held|How|If|In(?!-)|Instead|Into|Kept|Known|Made|Near|Never|Nobody|Not|Of|On|Once|Only|Onto|Out|Over|Past|Per|Put|Said|Seen|Sent|Since|So|Somebody|Taken|Than|That|Then|Those|Through|To|Told|Under|Unlike|Until|Up|What|Whatever|When|Where|Whether|Which|While|Who|Whoever|Whom|Whose|Why|With|Within|Without)\b/;

/** Longest sentence of a doc comment; a colon or a semicolon ends one, too. */
const WORDS_MAX = 25;
const SENTENCE_END = /[.;:!?](?=\s)/;
const CODE = /`[^`]*`/g;
/** Lines of an example, which are indented by four spaces. */
const CODE_LINES = /^\s*\* {5}.*$/gm;
const LINE_START = /\n\s*\*/g;

const DOC_COMMENT = /\/\*\*([\s\S]*?)\*\//g;

/** A page with a section's number in brackets, such as limits 3.2: no page of the repository has numbers. */
const CITATION = /(?:\/\/|\*).*(\((?:spec, [A-Z]|[a-z]+(?:-[a-z]+)* \d+(?:\.\d+)+[,;)]))/g;

/** Returns comments that cite a page by the number of its section, which nobody finds here. */
export function citationFaults(tree: SourceTree): Finding[] {
  return sources(tree).flatMap(([path, text]) =>
    [...text.matchAll(CITATION)].map(({ 1: cited, index }) => ({
      rule: 'citation',
      path,
      line: lineAt(text, index),
      message: `"${cited}" cites a page that the repository does not have: say the rule itself`,
    })),
  );
}

/** Returns doc comments that begin as half a sentence, or hold a sentence that a reader has to read twice. */
export function commentFaults(tree: SourceTree): Finding[] {
  return sources(tree).flatMap(([path, text]) =>
    [...text.matchAll(DOC_COMMENT)].flatMap(({ 1: body, index }) => {
      const messages = [halfSentence(body), longSentence(body)].filter((message) => message !== null);
      return messages.map((message) => ({ rule: 'doc-comment', path, line: lineAt(text, index), message }));
    }),
  );
}

/** A comment begins with a noun or a third-person verb. */
function halfSentence(body: string): string | null {
  const word = HALF_SENTENCES.exec(body.replace(/^[\s*]+/, ''))?.[0];
  return word === undefined
    ? null
    : `"${word} …" begins half a sentence: name the thing, or say what it does`;
}

function longSentence(body: string): string | null {
  const prose = body.replace(CODE_LINES, '').replace(LINE_START, ' ').replace(CODE, 'code');
  const long = prose.split(SENTENCE_END).find((sentence) => wordsOf(sentence).length > WORDS_MAX);
  if (long === undefined) return null;
  const words = wordsOf(long);
  return `"${words.slice(0, 4).join(' ')} …" has ${words.length} words, at most ${WORDS_MAX}: make two of it`;
}

function wordsOf(sentence: string): string[] {
  return sentence.split(/\s+/).filter((word) => word !== '');
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
