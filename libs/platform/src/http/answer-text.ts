/**
 * Types of answers that are made as text. docs/openapi.json takes their media type from these names, and what JSON
 * holds.
 */
export type HtmlText = string;

export type EventStreamText = string;

/** A value that was written before. */
export type JsonText<Value> = Value extends never ? never : string;

/** The handler has sent the file by itself. */
export type SentCsv = undefined;
