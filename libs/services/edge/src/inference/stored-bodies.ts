import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  StoredContent,
  type Clock,
  type KeyPrincipal,
  type PromptContent,
} from '@gateway/contracts';
import { StoredContentNeeded, wholeBody, type Asked } from '@gateway/endpoints';
import { CLOCK } from '@gateway/platform';
import type { InferenceRequest } from '../request/inference-request.js';
import { callerEndUserHash } from '../request/end-user-hash.js';

/** Characters of templates that are kept, about twice as many bytes. */
const KEPT_MAX = 8 * 1024 * 1024;
const KEPT_MS = 60_000;

interface CachedBody {
  content: PromptContent;
  size: number;
  untilMs: number;
}

/**
 * Bodies with the templates and memories that they name. A template is kept under the account's version at which it was
 * read, because every change of it raises that; memories are read for each request.
 */
@Injectable()
export class StoredBodies {
  private readonly kept = new Map<string, CachedBody>();
  private size = 0;

  constructor(
    private readonly stored: StoredContent,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Reads a body whole: where it names templates or memories, with them. Throws ApiError. */
  async read(
    { bytes, headers, principal }: Pick<InferenceRequest, 'bytes' | 'headers' | 'principal'>,
    read: InferenceRequest['endpoint']['read'],
  ): Promise<Asked> {
    const found = read({ bytes, headers });
    if (!(found instanceof StoredContentNeeded)) return found;
    return wholeBody(read({ bytes: await this.bodyOf(found, principal), headers }));
  }

  /** Throws ApiError not_found for a template that cannot run, service_unavailable, and as `compose`. */
  async bodyOf(needed: StoredContentNeeded, principal: KeyPrincipal): Promise<Uint8Array> {
    const memories = await this.memories(needed, principal);
    const { template } = needed;
    if (template === null) return needed.compose(null, memories);
    const name = JSON.stringify([
      principal.accountId,
      principal.accountVersion,
      template.name,
      template.version,
    ]);
    const known = this.known(name);
    if (known !== null) {
      try {
        return needed.compose(known, memories);
      } catch (rejection) {
        // It may rest on what was published before: the rejection is the newest content's to make.
        if (!(rejection instanceof ApiError)) throw rejection;
      }
    }
    const content = await this.stored.template(principal.accountId, template.name, template.version);
    if (content === null) {
      const message = `There is no template ${template.name} with such a version, or none is published.`;
      throw new ApiError('not_found', { message, param: 'template' });
    }
    this.keep(name, content);
    return needed.compose(content, memories);
  }

  private memories({ memory }: StoredContentNeeded, principal: KeyPrincipal): Promise<string[]> | string[] {
    const hash = memory === null ? null : callerEndUserHash(principal, memory.endUserId);
    if (memory === null || hash === null) return [];
    return this.stored.memories(principal.accountId, hash, memory.maxItems);
  }

  private known(name: string): PromptContent | null {
    const kept = this.kept.get(name);
    return kept === undefined || kept.untilMs <= this.clock.monotonic() ? null : kept.content;
  }

  private keep(name: string, content: PromptContent): void {
    this.forget(name);
    const size = JSON.stringify(content).length;
    this.kept.set(name, { content, size, untilMs: this.clock.monotonic() + KEPT_MS });
    this.size += size;
    for (const oldest of this.kept.keys()) {
      if (this.size <= KEPT_MAX) return;
      this.forget(oldest);
    }
  }

  private forget(name: string): void {
    this.size -= this.kept.get(name)?.size ?? 0;
    this.kept.delete(name);
  }
}
