import { Matches } from 'class-validator';

/** Texts of one line, without a character that a mail or a terminal would obey. */
const LINE = /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u;
/** The same without what a mail program makes a link of. */
const NAME = /^(?!.*(?::\/\/|www\.))[^\p{Cc}\p{Zl}\p{Zp}]*$/iu;

/** A name that mails to strangers hold: one line, no link. */
export function IsName(): PropertyDecorator {
  return Matches(NAME, { message: '$property must be one line of text without a link' });
}

/** True if the text is one line without control characters. */
export function isOneLine(text: string): boolean {
  return LINE.test(text);
}

/** An address of one line: a quoted local part may hold line breaks otherwise. */
export function IsOneLine(): PropertyDecorator {
  return Matches(LINE, { message: '$property must be one line of text' });
}
