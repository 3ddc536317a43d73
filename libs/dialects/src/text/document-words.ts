import type { DocumentPart } from './model-request.js';

/** What a document says of itself, in words for a format that has no members for it; none where it says nothing. */
export function documentWords({ title, context }: Pick<DocumentPart, 'title' | 'context'>): string {
  const lines = [!title ? '' : `Title: ${title}`, !context ? '' : `Context: ${context}`];
  return lines.filter((line) => line !== '').join('\n');
}

/** A document of text as a text. */
export function documentText(text: string, document: Pick<DocumentPart, 'title' | 'context'>): string {
  const words = documentWords(document);
  return words === '' ? text : `${words}\n\n${text}`;
}
