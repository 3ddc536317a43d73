import { spellBody, writeJson } from '@gateway/json-body';
import { ApiError, newAnswerId, type KeyPrincipal } from '@gateway/contracts';
import { filled, isObject, JSON_HEADERS, LazySchema, readJson } from '@gateway/dialects';
import { credentialOf } from '@gateway/platform';
import type { ComposedEndpoint } from '../inference/composed-endpoint.js';
import type { InferDeps } from '../inference/infer-deps.js';
import type { InferenceRequest } from '../request/inference-request.js';
import { REALTIME } from '../sockets/realtime/realtime-endpoint.js';
import { planResponse } from '../sockets/realtime/realtime-unit.js';

const SECONDS_DEFAULT = 600;

const SCHEMA = {
  type: 'object',
  properties: {
    expires_after: {
      type: 'object',
      nullable: true,
      properties: {
        anchor: { enum: ['created_at'] },
        seconds: { type: 'integer', minimum: 10, maximum: 7_200 },
      },
    },
    session: {
      type: 'object',
      nullable: true,
      properties: { type: { enum: ['realtime'] }, model: { type: 'string', minLength: 1 } },
    },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

/** POST /v1/realtime/client_secrets: a short-lived secret that a browser opens a session with. */
export const clientSecrets: ComposedEndpoint = {
  paths: ['/realtime/client_secrets'],
  permission: REALTIME.permission,
  asks: REALTIME,
  admits: false,
  docs: {
    summary: 'A short-lived secret for a realtime session',
    schemaName: 'ClientSecretRequest',
    schema: SCHEMA,
    answers: ['application/json'],
    description:
      'Opens sessions with the model and the settings of `session` until it expires, 600 seconds if nothing is said. ' +
      'It ends with the key that made it.',
  },
  load: () => schema.load(),
  run: (call, client, deps) => {
    const made = deps.rejections.whileReading(call, () => secretFor(call, deps));
    client.answer(writeJson(made), JSON_HEADERS);
    return Promise.resolve();
  },
};

/** Throws ApiError where a session would be refused. */
function secretFor(call: InferenceRequest, deps: InferDeps): object {
  const read = readJson(call.bytes, schema);
  spellBody(read);
  const { value } = read;
  const asked = isObject(value.session) ? value.session : {};
  const model = filled(asked.model) ?? call.principal.defaultModel;
  if (model === null)
    throw new ApiError('validation_error', { message: 'session.model is missing.', param: 'session.model' });
  requireRealtime(call.principal);
  const plan = planResponse({ kind: 'response', model, ...NOTHING }, call.principal, deps);
  const session = { ...asked, type: 'realtime', model: plan.model.record.id };
  const seconds = isObject(value.expires_after)
    ? Number(value.expires_after.seconds ?? SECONDS_DEFAULT)
    : SECONDS_DEFAULT;
  const expiresAt = Math.floor(call.receivedAtMs / 1_000) + seconds;
  return {
    value: deps.clientSecrets.make(digestOf(call), session, expiresAt),
    expires_at: expiresAt,
    session: {
      object: 'realtime.session',
      id: newAnswerId('sess', deps.clock, deps.random),
      ...session,
    },
  };
}

const NOTHING = { inputBytes: 0, audioSeconds: 0, connectedSeconds: 0, maxOutputTokens: null };

function requireRealtime({ realtime }: KeyPrincipal): void {
  if (realtime?.enabled === false) throw new ApiError('feature_not_enabled');
}

/** The caller was authenticated by it: it is well formed. */
function digestOf({ headers: { authorization, 'x-api-key': key } }: InferenceRequest): string {
  const text = authorization?.replace(/^bearer +/i, '').trim() ?? String(key).trim();
  const credential = credentialOf(text);
  if (credential.kind !== 'key') throw new ApiError('forbidden');
  return credential.digest;
}
