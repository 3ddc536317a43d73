import { UpstreamCallsDouble } from '@gateway/testing/upstream-calls';
import { readForm, type Form } from '../body/multipart.js';
import type { RouteTarget } from '../translation/translation.js';
import type { OwnTranscriptions, Transcript, TranscriptionRequest } from './transcriptions-dialect.js';

const FILE = { field: 'file', filename: 'a.wav', contentType: 'audio/wav', bytes: Buffer.from('RIFFsound') };

type Asked = Partial<Omit<TranscriptionRequest, 'form'>> & { fields?: [string, string][] };

export function askedFor({ fields = [], ...given }: Asked = {}): TranscriptionRequest {
  return {
    task: 'transcribe',
    format: 'json',
    stream: false,
    seconds: 2.5,
    form: { fields: [['model', 'mine'], ...fields], files: [FILE], boundary: 'b' },
    file: FILE,
    ...given,
  };
}

interface Heard {
  calls: UpstreamCallsDouble;
  transcript: Transcript;
}

/** Runs a request over a provider that answers in this order. */
export async function heardBy(
  dialect: OwnTranscriptions,
  model: string,
  given: Asked,
  replies: ConstructorParameters<typeof UpstreamCallsDouble>[0],
): Promise<Heard> {
  const calls = new UpstreamCallsDouble(replies);
  const target = { upstreamModel: model } as RouteTarget;
  return { calls, transcript: await dialect.run(askedFor(given), target, calls) };
}

/** The form of a call: its fields, and its files by name and bytes. */
export function sentForm({ body, contentType }: UpstreamCallsDouble['sent'][number]): {
  fields: [string, string][];
  files: [string, string][];
} {
  const { fields, files } = readForm(body, contentType) as Form;
  return {
    fields: fields.map(([name, value]) => [name, value]),
    files: files.map(({ field, bytes }) => [field, Buffer.from(bytes).toString()]),
  };
}
