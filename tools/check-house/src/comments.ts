import { type Finding, type SourceTree, sources } from './tree.js';

/**
 * Words that open half a sentence: relative and interrogative pronouns, bare prepositions, lone participles. A reader
 * has to find the subject in the declaration below and read the comment again.
 */
const HALF_SENTENCES =
  /^(?:Above|After|Against|As|Asked|At|Because|Before|Behind|Below|Beside|Between|Beyond|By|For|Found|From|Given|Held|How|If|In(?!-)|Instead|Into|Kept|Known|Made|Near|Never|Nobody|Not|Of|On|Once|Only|Onto|Out|Over|Past|Per|Put|Said|Seen|Sent|Since|So|Somebody|Taken|Than|That|Then|Those|Through|To|Told|Under|Unlike|Until|Up|What|Whatever|When|Where|Whether|Which|While|Who|Whoever|Whom|Whose|Why|With|Within|Without)\b/;

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

/** Returns doc comments that begin as half a sentence: they begin with a noun or a third-person verb. */
export function commentFaults(tree: SourceTree): Finding[] {
  return sources(tree).flatMap(([path, text]) =>
    [...text.matchAll(DOC_COMMENT)].flatMap(({ 1: body, index }) => {
      const word = HALF_SENTENCES.exec(body.replace(/^[\s*]+/, ''))?.[0];
      if (word === undefined) return [];
      const message = `"${word} …" begins half a sentence: name the thing, or say what it does`;
      return [{ rule: 'doc-comment', path, line: lineAt(text, index), message }];
    }),
  );
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
