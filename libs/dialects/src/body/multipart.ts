import type { DetailType } from '@gateway/contracts';
import { MultipartParseError, parseMultipart, type MultipartPart } from '@remix-run/multipart-parser';
import { BodyFault } from '@gateway/json-body';
import type { UpstreamBody } from '../translation/upstream-body.js';

export interface FormFile {
  /** Name of the field. */
  readonly field: string;
  /** Name that the caller gave; never used as a path. */
  readonly filename: string;
  /** "" where the caller named none. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** A multipart/form-data body. Repeated fields keep their order. */
export interface Form {
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly files: readonly FormFile[];
  /** Occurs in no part: whoever sends the same parts on may use it again. */
  readonly boundary: string;
}

/** Bounds of a form. */
const FILES_MAX = 20;
const FIELDS_MAX = 64;
const BYTES_MAX = 32 * 1024 * 1024;
const NAME_LENGTH_MAX = 256;
const BOUNDARY =
  /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70})(?=[\s;]|$))/i;

/** Reads a form that is whole in memory. Never throws; file contents are views of the body. */
export function readForm(bytes: Uint8Array, contentType: string): Form | BodyFault {
  const found = BOUNDARY.exec(contentType);
  const boundary = found?.[1] ?? found?.[2];
  if (boundary === undefined)
    return fault('content_type_invalid', 'the body must be multipart/form-data with a boundary');
  try {
    return formOf(boundary, bytes);
  } catch (failure) {
    if (failure instanceof MultipartParseError || failure instanceof TypeError)
      return fault('form_invalid', 'the body is not a valid form');
    throw failure;
  }
}

function formOf(boundary: string, bytes: Uint8Array): Form | BodyFault {
  const fields: [string, string][] = [];
  const files: FormFile[] = [];
  const delimiter = Buffer.from(`--${boundary}`);
  const bounds = { maxFileSize: BYTES_MAX, maxTotalSize: BYTES_MAX, maxParts: FILES_MAX + FIELDS_MAX };
  for (const part of parseMultipart(bytes, { boundary, ...bounds })) {
    const name = part.name ?? '';
    if (name === '' || name.length > NAME_LENGTH_MAX)
      return fault('form_invalid', 'every part of the form needs a name');
    // Some readers end a part where it begins with the boundary: sent on, it would hold parts that nobody here has read.
    if (delimiter.equals(part.bytes.subarray(0, delimiter.length)))
      return fault('form_invalid', 'a part of the form begins with its boundary');
    if (part.isFile) files.push(fileOf(name, part));
    else fields.push([name, part.text]);
    if (files.length > FILES_MAX) return fault('form_invalid', `more than ${FILES_MAX} files`);
    if (fields.length > FIELDS_MAX) return fault('form_invalid', `more than ${FIELDS_MAX} fields`);
  }
  return { fields, files, boundary };
}

function fileOf(field: string, part: MultipartPart): FormFile {
  const { filename = '', mediaType = '' } = part;
  return {
    field,
    filename: filename.slice(0, NAME_LENGTH_MAX),
    contentType: /^[\w.+/-]{1,100}$/.test(mediaType) ? mediaType : '',
    bytes: part.bytes,
  };
}

/** A form for an upstream. What a name may not hold in a header is escaped, as browsers do. */
export function formBody(path: string, accept: string, form: Form): UpstreamBody {
  const { boundary } = form;
  const pieces: Uint8Array[] = [];
  for (const [name, value] of form.fields)
    pieces.push(Buffer.from(`${head(boundary, name)}\r\n${value}\r\n`));
  for (const { field, filename, contentType, bytes } of form.files) {
    const type = contentType === '' ? 'application/octet-stream' : contentType;
    const named = `; filename="${escaped(filename)}"\r\nContent-Type: ${type}\r\n\r\n`;
    pieces.push(Buffer.from(head(boundary, field).trimEnd() + named), bytes, Buffer.from('\r\n'));
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  const byteLength = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  return {
    path,
    contentType: `multipart/form-data; boundary=${quoted(boundary)}`,
    accept,
    pieces,
    byteLength,
  };
}

function head(boundary: string, name: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n`;
}

function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function quoted(boundary: string): string {
  return /^[\w'()+,./:=?-]+$/.test(boundary) && !/[(),/:=?]/.test(boundary) ? boundary : `"${boundary}"`;
}

function fault(type: DetailType, msg: string): BodyFault {
  return new BodyFault({ type, loc: ['body'], msg });
}
