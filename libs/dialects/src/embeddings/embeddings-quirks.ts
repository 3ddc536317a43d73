declare module '../translation/translation.js' {
  interface Quirks {
    /** Takes lists of token ids in place of texts: only who made the tokenizer does. */
    takesTokenIds?: boolean;
    /** Name of the wished length of a vector: OpenAI's is `dimensions`, Mistral's `output_dimension`. */
    dimensionsParam?: string;
  }
}

export {};
