import {
  Unsupported,
  REALTIME_DIALECTS,
  type RouteTarget,
  type Translation,
  type UpstreamBody,
} from '@gateway/dialects';
import type { Asked, Endpoint } from '@gateway/endpoints';

/** Dialect of callers. */
const REALTIME_DIALECT = 'realtime';
/** Dialects of models that write the caller's speech down beside it. */
const TRANSCRIPTION_DIALECTS = new Set(['transcriptions', 'whisper']);

/** The work that is priced as one unit. */
export interface RealtimeAsked {
  /** `transcription`: of the caller's speech, by a model of its own. */
  kind: 'response' | 'transcription';
  model: string;
  inputBytes: number;
  audioSeconds: number;
  /** Seconds of a transcription: more were never sent. */
  heardSecondsMax?: number;
  /** Seconds of connection since the unit before. */
  connectedSeconds: number;
  maxOutputTokens: number | null;
}

/** Returns the work of a session that has heard and said nothing yet. */
export function withoutInput(model: string, kind: RealtimeAsked['kind'] = 'response'): RealtimeAsked {
  return { kind, model, inputBytes: 0, audioSeconds: 0, connectedSeconds: 0, maxOutputTokens: null };
}

/** Returns the work as planning and admission know a request. */
export function askedOf(work: RealtimeAsked): Asked<RealtimeAsked> {
  const { kind, model, inputBytes, audioSeconds, connectedSeconds, maxOutputTokens } = work;
  const seconds = kind === 'response' ? connectedSeconds : audioSeconds;
  return {
    model,
    stream: true,
    tier: 'default',
    heldAs: 'realtime',
    endUser: null,
    serves: kind === 'response' ? { flag: 'supports_realtime', status: 400 } : { type: 'stt', status: 400 },
    requires: [],
    dialect: kind === 'response' ? REALTIME_DIALECT : 'transcriptions',
    input: {
      inputBytes,
      inputImages: 0,
      inputAudioSeconds: audioSeconds.toFixed(3),
      inputDocuments: [],
    },
    billableUnits: { audio_seconds: seconds.toFixed(3) },
    maxOutputTokens,
    choices: 1,
    writesCache: false,
    context: {},
    request: work,
  };
}

function translationTo(request: UpstreamBody): Translation {
  return {
    request,
    ignored: [],
    begin: () => {
      throw new TypeError('a realtime session has no answer of its own');
    },
  };
}

/** Nothing is sent: the session is there. */
const NO_REQUEST: UpstreamBody = {
  method: 'GET',
  path: '',
  contentType: '',
  accept: '',
  pieces: [],
  byteLength: 0,
};

/** Endpoint as planning sees /v1/realtime: it has no POST, so it is not in the registry. */
export const REALTIME: Endpoint = {
  paths: [],
  permission: 'realtime:connect',
  idPrefix: 'rt',
  docs: { summary: '', schemaName: '', schema: {}, answers: [], description: '' },
  read: () => {
    throw new TypeError('a realtime session has no body');
  },
  translate: ({ request }, route: RouteTarget) => {
    const { kind } = request as RealtimeAsked;
    if (kind === 'transcription')
      return TRANSCRIPTION_DIALECTS.has(route.dialect) ? translationTo(NO_REQUEST) : new Unsupported(null);
    return openedAs(route.dialect, route.upstreamModel) ?? new Unsupported(null);
  },
};

/** Returns the request that opens a session with a model; null for a dialect that has none. */
export function openedAs(dialect: string, upstreamName: string): Translation | null {
  const known = REALTIME_DIALECTS.get(dialect);
  return known === undefined ? null : translationTo(known.open(upstreamName));
}
