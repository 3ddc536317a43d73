/** Largest decoded image or file of a data URL (libs/dialects/src/text/README.md). */
export const DATA_URL_LIMIT_BYTES = 20 * 1_048_576;

export interface DataUrl {
  mediaType: string;
  data: string;
  byteLength: number;
}

/** Longest head of a data URL that is looked at: a media type with its parameters. */
const HEAD_LIMIT = 256;

/** A base64 data URL taken apart, or what is wrong with it. Megabytes are only scanned, not copied or decoded. */
export function parseDataUrl(url: string): DataUrl | { fault: string } {
  const comma = url.slice(0, HEAD_LIMIT).indexOf(',');
  if (comma < 0) return { fault: 'a data URL needs a comma before its data' };
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).split(';');
  if (!parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64'))
    return { fault: 'a data URL must be base64: data:<type>;base64,<data>' };
  const data = url.slice(comma + 1);
  const byteLength = base64Length(data);
  if (byteLength === null) return { fault: 'the data of the data URL is not base64' };
  if (byteLength > DATA_URL_LIMIT_BYTES) return { fault: 'the data URL is larger than 20 MiB' };
  return { mediaType: mediaType.trim().toLowerCase(), data, byteLength };
}

/** Decoded length of base64 text, null where it is none. */
export function base64Length(data: string): number | null {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  const digits = data.length - padding;
  // A search for one wrong character needs no backtracking, however long the text is.
  if (digits === 0 || digits % 4 === 1 || data.slice(0, digits).search(/[^A-Za-z0-9+/_-]/) >= 0) return null;
  return Math.floor((digits * 3) / 4);
}
