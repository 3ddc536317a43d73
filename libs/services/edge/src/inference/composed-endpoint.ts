import type { Type } from '@nestjs/common';
import type { Endpoint } from '@gateway/endpoints';
import type { InferenceRequest } from '../request/inference-request.js';
import type { Client } from '../request/client.js';

/** An endpoint that asks models through others: it has no wire format of its own. */
export interface ComposedEndpoint extends Pick<Endpoint, 'paths' | 'permission' | 'docs'> {
  /** The endpoint whose requests it makes: its id prefix, its errors. */
  readonly asks: Endpoint;
  /** False where nothing is admitted: the caller's record is then compared with the newest at once. */
  readonly admits: boolean;
  /** Loads once, before the first request. */
  readonly load: () => void;
  /** Class that answers its requests, made by its constructor. */
  readonly handler: Type<ComposedHandler>;
}

export interface ComposedHandler {
  /** Throws ApiError while nothing was sent. */
  run(request: InferenceRequest, client: Client): Promise<void>;
}
