import type { RequestContents, UnitContent } from '@gateway/contracts';
import type { Deadlines } from '@gateway/platform';
import type { AdmittedUnit } from '../admission/admission.js';
import type { InferenceRequest } from '../request/inference-request.js';
import type { Client } from '../request/client.js';
import { WriteBehind } from '../state/write-behind.js';
import { callerEndUserHash } from '../request/end-user-hash.js';

/** A longer body is not kept, its size alone. */
const BODY_BYTES_MAX = 1_048_576;
/** Size of current answers and of contents that wait to be written, together. */
const BUFFERED_BYTES_MAX = 64 * 1_048_576;
const WAITING = { waiting: 4_096, bytes: 32 * 1_048_576, batchBytes: 1_048_576 };

interface Deps {
  store: Pick<RequestContents, 'keep'>;
  deadlines: Pick<Deadlines, 'set'>;
  /** Gets how many were kept, and how many never will be. */
  onStored: (count: number) => void;
  onDropped: (count: number, cause: unknown) => void;
}

/** Contents of units, for organizations that log them: taken beside the answer, written behind it, never waited for. */
export class ContentLog {
  private readonly behind: WriteBehind<UnitContent>;
  private bufferedBytes = 0;

  constructor({ store, deadlines, onStored, onDropped }: Deps) {
    const write = async (batch: UnitContent[]): Promise<void> => {
      await store.keep(batch);
      onStored(batch.length);
    };
    this.behind = new WriteBehind({
      ...{ write, deadlines, onDropped, max: WAITING, lingerMs: 5 },
      accountOf: ({ account_id }: UnitContent) => account_id,
    });
  }

  /** Takes what is sent from now on; the answer ends by `end`. */
  begin(request: InferenceRequest, admitted: AdmittedUnit, client: Client): Transcript {
    const transcript = new Transcript(
      (bytes) => this.hold(bytes),
      (response, bytes) => this.end(request, admitted, response, bytes),
    );
    client.tee = (out) => transcript.see(out);
    return transcript;
  }

  flush(): Promise<void> {
    return this.behind.flush();
  }

  /** False where nothing more may be held. */
  private hold(bytes: number): boolean {
    if (bytes > 0 && this.bufferedBytes + bytes > BUFFERED_BYTES_MAX) return false;
    this.bufferedBytes += bytes;
    return true;
  }

  private end(
    request: InferenceRequest,
    admitted: AdmittedUnit,
    response: string | null,
    responseBytes: number,
  ): void {
    const { principal, asked } = admitted;
    const { requestLogging: logging, orgId } = principal;
    if (!logging || orgId === null) return;
    const text = request.bytes.length > BODY_BYTES_MAX || !isJson(request) ? null : textOf(request.bytes);
    const content: UnitContent = {
      request_id: request.requestId,
      unit: request.unitIndex,
      account_id: principal.accountId,
      org_id: orgId,
      member_id: principal.createdBy,
      key_id: principal.keyId,
      end_user_hash: asked.endUser === null ? null : callerEndUserHash(principal, asked.endUser),
      endpoint: request.path,
      created_at: new Date(request.receivedAtMs).toISOString(),
      retention_days: logging.retentionDays,
      redact: logging.redact,
      request: text,
      request_bytes: request.bytes.length,
      response,
      response_bytes: responseBytes,
    };
    this.behind.add(content, 512 + (text?.length ?? 0) + (response?.length ?? 0));
  }
}

/** Text of one answer, until it is too long. */
export class Transcript {
  private parts: string[] | null = [];
  private bufferedBytes = 0;
  private bytes = 0;

  constructor(
    private readonly hold: (bytes: number) => boolean,
    private readonly take: (response: string | null, bytes: number) => void,
  ) {}

  see(out: string | Uint8Array): void {
    const bytes = Buffer.byteLength(out);
    this.bytes += bytes;
    if (this.parts === null || bytes === 0) return;
    if (typeof out !== 'string' || this.bytes > BODY_BYTES_MAX || !this.hold(bytes)) return this.forget();
    this.bufferedBytes += bytes;
    this.parts.push(out);
  }

  /** Ends the transcript, once, when the unit is over. */
  end(): void {
    const response = this.parts === null || this.bytes === 0 ? null : this.parts.join('');
    this.forget();
    this.take(response, this.bytes);
  }

  private forget(): void {
    this.parts = null;
    this.hold(-this.bufferedBytes);
    this.bufferedBytes = 0;
  }
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}

function isJson({ bytes }: InferenceRequest): boolean {
  return bytes.length > 0 && bytes[bytes.findIndex((byte) => byte > 0x20)] === 0x7b;
}
