import type { DocumentPart } from './model-request.js';

/** Returns a document's title and context in words, for a format without members for it; none where it has neither. */
export function documentWords({ title, context }: Pick<DocumentPart, 'title' | 'context'>): string {
  const lines = [!title ? '' : `Title: ${title}`, !context ? '' : `Context: ${context}`];
  return lines.filter((line) => line !== '').join('\n');
}

/** A document of text as a text. */
export function documentText(text: string, document: Pick<DocumentPart, 'title' | 'context'>): string {
  const words = documentWords(document);
  return words === '' ? text : `${words}\n\n${text}`;
}
