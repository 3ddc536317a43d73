import type { Readable, Writable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import {
  ApiError,
  BODY_LIMIT_BYTES,
  ObjectTooLarge,
  type ObjectKey,
  type ObjectStore,
  UPLOAD_PURPOSES,
} from '@gateway/contracts';

export interface Upload {
  bytes: number;
  filename: string;
  purpose: string;
  /** Lifetime in seconds; null = for good. */
  seconds: number | null;
}

const PURPOSES: readonly string[] = UPLOAD_PURPOSES;
const FIELD_BYTES_MAX = 1_024;
const FIELDS_MAX = 64;
const NAME_LENGTH_MAX = 255;
const SECONDS = { min: 3_600, max: 2_592_000 };

/**
 * A multipart upload, whose file goes to the store as it comes. Throws ApiError `validation_error` for a form that is
 * none; what of it is in the store by then is the caller's to remove.
 */
export async function readUpload(
  { stream, contentType }: { stream: Readable; contentType: string | undefined },
  store: ObjectStore,
  key: ObjectKey,
): Promise<Upload> {
  if (!/^multipart\/form-data\s*;/i.test(contentType ?? ''))
    throw fault('body', 'The body has to be multipart/form-data.');
  const fields = new Map<string, string>();
  const repeated: string[] = [];
  let file: { name: string; put: Promise<{ bytes: number }>; content: Readable } | null = null;
  try {
    const form = new Busboy({
      headers: { 'content-type': String(contentType) },
      limits: {
        fieldSize: FIELD_BYTES_MAX,
        fields: FIELDS_MAX,
        files: 1,
        parts: FIELDS_MAX + 1,
        fieldNameSize: 64,
      },
    });
    form.on('field', (name: string, value: string) => {
      if (fields.has(name)) repeated.push(name);
      fields.set(name, value);
    });
    // At once: what follows is not read as a form.
    const tooMany = (): void =>
      void form.destroy(fault('body', `A form has at most ${FIELDS_MAX} fields and one file.`));
    form.on('fieldsLimit', tooMany).on('partsLimit', tooMany);
    form.on('filesLimit', () => repeated.push('file'));
    form.on('file', (name: string, content: Readable, filename: string) => {
      if (name !== 'file' || file !== null) return void content.resume();
      // Its reader sees it, once it reads.
      content.on('error', () => undefined);
      const put = store.put(key, content, { maxBytes: BODY_LIMIT_BYTES });
      put.catch((failure: Error) => form.destroy(failure));
      file = { name: filename, put, content };
    });
    await piped(stream, form);
    const sent = file as { name: string; put: Promise<{ bytes: number }> } | null;
    if (sent === null) throw fault('file', 'A file is needed.');
    const [again] = repeated;
    if (again !== undefined) throw fault(again, `${again} is given once.`);
    const { bytes } = await sent.put;
    return { bytes, filename: shownName(sent.name), ...read(fields) };
  } catch (failure) {
    const sent = file as { put: Promise<unknown>; content: Readable } | null;
    sent?.content.destroy(new Error('The form broke off.'));
    await sent?.put.catch(() => undefined);
    if (failure instanceof ObjectTooLarge)
      throw fault('file', `A file has at most ${failure.maxBytes} bytes.`);
    throw failure instanceof ApiError ? failure : fault('body', 'The form broke off or is none.');
  }
}

function piped(stream: Readable, form: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (failure: Error): void => {
      stream.unpipe(form);
      stream.resume();
      reject(failure);
    };
    form.once('finish', () => resolve());
    // There may be several: an error that nobody listens to ends the process.
    form.on('error', end);
    const broken = (failure: Error): void => {
      form.destroy(failure);
      end(failure);
    };
    if (stream.errored !== null) return broken(stream.errored);
    stream.once('error', broken).pipe(form);
  });
}

function read(fields: ReadonlyMap<string, string>): Pick<Upload, 'purpose' | 'seconds'> {
  const purpose = fields.get('purpose') ?? '';
  if (!PURPOSES.includes(purpose)) throw fault('purpose', `purpose is one of ${PURPOSES.join(', ')}.`);
  const [anchor, text] = [fields.get('expires_after[anchor]'), fields.get('expires_after[seconds]')];
  if (anchor === undefined && text === undefined) return { purpose, seconds: null };
  const seconds = Number(text);
  const isGood = Number.isInteger(seconds) && seconds >= SECONDS.min && seconds <= SECONDS.max;
  if (anchor !== 'created_at' || !isGood)
    throw fault(
      'expires_after',
      `expires_after is {anchor: created_at, seconds: ${SECONDS.min} to ${SECONDS.max}}.`,
    );
  return { purpose, seconds };
}

/** Returns the name that the caller gave, for display alone. */
function shownName(name: string): string {
  const shown = name.replaceAll(/\p{Cc}/gu, '').slice(0, NAME_LENGTH_MAX);
  // A cut may part a pair: what comes back is well-formed.
  return shown === '' ? 'file' : Buffer.from(shown).toString();
}

function fault(field: string, msg: string): ApiError {
  const detail = { type: 'form_invalid' as const, loc: [field], msg };
  return new ApiError('validation_error', { message: msg, details: [detail], param: field });
}
