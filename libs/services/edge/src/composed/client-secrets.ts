import { spellBody, writeJson } from '@gateway/json-body';
import { Inject, Injectable } from '@nestjs/common';
import { ApiError, newAnswerId, type Clock, type KeyPrincipal, type Random } from '@gateway/contracts';
import { filled, isObject, JSON_HEADERS, LazySchema, readJson } from '@gateway/dialects';
import { CLOCK, credentialOf, RANDOM } from '@gateway/platform';
import { ClientSecrets } from '../inference/client-secrets.js';
import type { ComposedEndpoint, ComposedHandler } from '../inference/composed-endpoint.js';
import type { Client } from '../request/client.js';
import type { InferenceRequest } from '../request/inference-request.js';
import { REALTIME, withoutInput } from '../sockets/realtime/realtime-endpoint.js';
import { RealtimePlanner } from '../sockets/realtime/realtime-planner.js';
import { Rejections } from '../units/rejections.js';

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

@Injectable()
class ClientSecretsHandler implements ComposedHandler {
  constructor(
    private readonly secrets: ClientSecrets,
    private readonly planner: RealtimePlanner,
    private readonly rejections: Rejections,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  run(request: InferenceRequest, client: Client): Promise<void> {
    const made = this.rejections.whileReading(request, () => this.secretFor(request));
    client.answer(writeJson(made), JSON_HEADERS);
    return Promise.resolve();
  }

  /** Throws ApiError where a session would be refused. */
  private secretFor(request: InferenceRequest): object {
    const read = readJson(request.bytes, schema);
    spellBody(read);
    const { value } = read;
    const asked = isObject(value.session) ? value.session : {};
    const model = filled(asked.model) ?? request.principal.defaultModel;
    if (model === null)
      throw new ApiError('validation_error', {
        message: 'session.model is missing.',
        param: 'session.model',
      });
    requireRealtime(request.principal);
    const plan = this.planner.plan(withoutInput(model), request.principal, request.requestId);
    const session = { ...asked, type: 'realtime', model: plan.model.record.id };
    const seconds = isObject(value.expires_after)
      ? Number(value.expires_after.seconds ?? SECONDS_DEFAULT)
      : SECONDS_DEFAULT;
    const expiresAt = Math.floor(request.receivedAtMs / 1_000) + seconds;
    return {
      value: this.secrets.make(digestOf(request), session, expiresAt),
      expires_at: expiresAt,
      session: {
        object: 'realtime.session',
        id: newAnswerId('sess', this.clock, this.random),
        ...session,
      },
    };
  }
}

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
  handler: ClientSecretsHandler,
};

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
