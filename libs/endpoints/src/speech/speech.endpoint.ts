import {
  EVENT_STREAM,
  filled,
  LazySchema,
  Unsupported,
  readJson,
  SPEECH_DIALECTS,
  type Answer,
  type AnswerFacts,
  type AnswerHead,
  type RouteTarget,
  type SpeechDialect,
  type SpeechRequest,
  type Translation,
  type UpstreamBody,
} from '@gateway/dialects';
import type { ParsedBody } from '@gateway/json-body';
import type { Asked, Endpoint } from '../endpoint.js';
import { measuredSpeech } from './measured-speech.js';
import { speechEvents, speechFailure } from './speech-events.js';

const CHARACTERS_MAX = 4_096;
const FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];

/**
 * Bytes a second of the slowest speech at the usual speed, in any script: the amount held for a model billed by the
 * minute.
 */
const BYTES_PER_SECOND = 10;

/** Members for the manner of speaking, for which not every upstream has a member. */
const HINTS = ['speed', 'instructions'];

const SCHEMA = {
  type: 'object',
  required: ['input', 'voice'],
  properties: {
    model: { type: 'string', nullable: true },
    input: { type: 'string', minLength: 1, maxLength: CHARACTERS_MAX },
    voice: {
      type: ['string', 'object'],
      minLength: 1,
      required: ['id'],
      properties: { id: { type: 'string', minLength: 1 } },
    },
    response_format: { enum: [...FORMATS, null] },
    speed: { type: 'number', minimum: 0.25, maximum: 4, nullable: true },
    instructions: { type: 'string', maxLength: CHARACTERS_MAX, nullable: true },
    stream_format: { enum: ['audio', 'sse', null] },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

/** POST /v1/audio/speech. */
export const endpoint: Endpoint<SpeechRequest> = {
  paths: ['/audio/speech'],
  permission: 'inference:write',
  idPrefix: 'speech',
  isCreate: true,
  docs: {
    summary: 'OpenAI speech',
    schemaName: 'SpeechRequest',
    schema: SCHEMA,
    answers: [
      ...FORMATS.map((format) => (format === 'mp3' ? 'audio/mpeg' : `audio/${format}`)),
      EVENT_STREAM,
    ],
    description:
      'Bytes of audio as they are made, or events of them (`stream_format: "sse"`): `speech.audio.delta` and `speech.audio.done`.',
  },
  events: { keepAlive: ': keep-alive\n\n', failure: speechFailure },
  load: () => schema.load(),
  read: ({ bytes }) => askedOf(readJson(bytes, schema)),
  translate: ({ request }, route) => {
    const dialect = SPEECH_DIALECTS.get(route.dialect);
    if (!dialect) return new Unsupported(null);
    return dialect.unsupported?.(request, route) ?? new SpeechTranslation(dialect, request, route);
  },
};

class SpeechTranslation implements Translation {
  readonly ignored: readonly string[];
  private encoded: UpstreamBody | null = null;

  constructor(
    private readonly dialect: SpeechDialect,
    private readonly asked: SpeechRequest,
    private readonly target: RouteTarget,
  ) {
    const { takes = HINTS } = dialect;
    const { value } = asked.body;
    this.ignored = HINTS.filter((name) => value[name] != null && !takes.includes(name));
  }

  get request(): UpstreamBody {
    return (this.encoded ??= this.dialect.encode(this.asked, this.target));
  }

  prepare(): void {
    this.encoded ??= this.dialect.encode(this.asked, this.target);
  }

  begin(head: AnswerHead, facts: AnswerFacts): Answer {
    const answer = this.dialect.begin(head, this.asked);
    const measured = measuredSpeech(answer, this.asked.format, this.target.price);
    return isEvents(this.asked.body) ? speechEvents(measured, facts) : measured;
  }
}

function isEvents({ value }: ParsedBody): boolean {
  return value.stream_format === 'sse';
}

function askedOf(body: ParsedBody): Asked<SpeechRequest> {
  const { model, input, instructions, response_format: format, speed } = body.value;
  const text = String(input);
  // Of Unicode, as a person counts them: a pair of surrogates is one.
  const characters = Array.from(text).length;
  const seconds = Buffer.byteLength(text) / BYTES_PER_SECOND / (typeof speed === 'number' ? speed : 1);
  const spoken = typeof instructions === 'string' ? text + instructions : text;
  return {
    model: filled(model),
    stream: isEvents(body),
    tier: 'default',
    endUser: null,
    serves: { type: 'tts', status: 400 },
    requires: [],
    dialect: 'speech',
    input: {
      inputBytes: Buffer.byteLength(spoken),
      inputImages: 0,
      inputAudioSeconds: 0,
      inputDocuments: [],
    },
    billableUnits: { characters, audio_seconds: seconds.toFixed(3) },
    maxOutputTokens: null,
    choices: 1,
    writesCache: false,
    context: {},
    request: { characters, format: typeof format === 'string' ? format : 'mp3', body },
  };
}
