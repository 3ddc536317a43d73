import { objectName, type ObjectKey } from './object-store.js';

type Json = Record<string, unknown>;

/** A response that was answered on POST /v1/responses, with what was sent for it. */
export interface StoredResponse {
  id: string;
  /** Key that alone may read the response. */
  key_id: string;
  account_id: string;
  end_user_hash: string | null;
  /** The provider and credential that answered in the responses format: what they encrypted goes back to them alone. */
  credential: string | null;
  previous_response_id: string | null;
  conversation_id: string | null;
  /** Unix seconds. */
  created_at: number;
  /** Items of this request alone. */
  input: Json[];
  /** Response as the provider stored it. */
  response: Json;
}

/** The response or conversation that a request continues. */
export type ResponseLink = { response_id: string } | { conversation_id: string };

/** All that was said so far, oldest first. */
export interface RecalledItems {
  items: Json[];
  /** Credential of the newest response. */
  credential: string | null;
  /** Model of the newest response; absent or null where it is not known. */
  model?: string | null;
}

/** Gets a size in bytes before so much is read into memory; another one replaces it. Throws ApiError to have it left. */
export type ReserveMemory = (bytes: number) => void;

/** A file that a request names; its content is in the object store (`callerFile`). */
export interface NamedFile {
  account_id: string;
  filename: string;
  bytes: number;
}

/** Returns the key of the content of a caller's file. */
export function callerFile(accountId: string, id: string): ObjectKey {
  return objectName('files', accountId, `${id}.bin`);
}

/**
 * Responses, conversations and files between requests. Drivers: in process (workers service); HTTP. Throws ApiError
 * `service_unavailable` where it cannot be asked.
 */
export abstract class ResponseStore {
  /** Keeps them; a repeat changes nothing. */
  abstract store(responses: readonly StoredResponse[]): Promise<void>;
  /** Null where the key has no such response or conversation. */
  abstract recall(
    keyId: string,
    link: ResponseLink,
    reserveMemory: ReserveMemory,
  ): Promise<RecalledItems | null>;
  /** Items by their ids, of responses and conversations of the key; an id that it does not have is left out. */
  abstract items(
    keyId: string,
    ids: readonly string[],
    reserveMemory: ReserveMemory,
  ): Promise<ReadonlyMap<string, Json>>;
  /** Files of the key by their ids; one that it does not have, or that has expired, is left out. */
  abstract files(keyId: string, ids: readonly string[]): Promise<ReadonlyMap<string, NamedFile>>;
  /** Removes what was answered for an end user until then. A repeat changes nothing. */
  abstract forget(accountId: string, endUserHash: string, until: Date): Promise<void>;
}
