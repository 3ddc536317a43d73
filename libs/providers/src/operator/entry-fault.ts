/** Names of members and places in lists, from an entry of the file inwards. */
export type Path = readonly (string | number)[];

/** A fault of an entry of the file. */
export interface EntryFault {
  entry: object;
  within: Path;
  words: string;
}
