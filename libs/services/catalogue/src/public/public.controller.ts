import { createHash } from 'node:crypto';
import { Controller, Get, Inject, Param, Query, Req, Res } from '@nestjs/common';
import {
  ListModelsQuery,
  ModelProvidersQuery,
  SearchModelsQuery,
  type Clock,
  type ModelView,
  type NamedLogo,
  type ProviderOffer,
} from '@gateway/contracts';
import { Access, CLOCK, type JsonText, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ModelReads, type FoundModels, type Reader } from '../models/model-reads.js';
import { idOf } from '../models/models.controller.js';
import { AddressLimit } from './address-limit.js';

const SIZE = 64;

/** A drawn logo of a name: its initials on a colour of its own, as a data URL. No file of anybody's trademark. */
function monogram(slug: string, name: string): string {
  const hue = [...slug].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7);
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE} ${SIZE}">` +
    `<rect width="${SIZE}" height="${SIZE}" rx="14" fill="hsl(${hue} 45% 38%)"/>` +
    `<text x="32" y="42" font-family="system-ui,sans-serif" font-size="28" font-weight="600" ` +
    `text-anchor="middle" fill="#fff">${initials(name)}</text></svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}

/** Letters and digits only, so that nothing of a name is read as markup. */
function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters =
    words.length > 1 ? words.slice(0, 2).map((word) => [...word][0]) : [...(words[0] ?? '?')].slice(0, 2);
  return letters.join('').toUpperCase();
}

const BY_ID = ['models/:id', 'models/:brand/:name'];
/** Seconds for which a shared cache may answer by itself, and never past an hour at which a price changes. */
const MAX_AGE_SECONDS = 60;

/** The catalogue at list price for everybody: limited per address, and cheap to ask again. */
@Controller('v1/public')
@Access({ public: true })
export class PublicController {
  private readonly limit: AddressLimit;

  constructor(
    private readonly models: ModelReads,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.limit = new AddressLimit(clock);
  }

  /** Lists all models at list price, without a credential. */
  @Get('models')
  list(
    @Query() query: ListModelsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): JsonText<ModelView[]> | undefined {
    return this.answer(request, reply, (reader) => this.models.list(reader, query));
  }

  /** Searches all models at list price, without a credential. */
  @Get('models/search')
  search(
    @Query() query: SearchModelsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): JsonText<FoundModels> | undefined {
    return this.answer(request, reply, (reader) => this.models.search(reader, query));
  }

  /** Lists the providers of a model at list price, without a credential. */
  @Get(BY_ID.map((path) => `${path}/providers`))
  providersOf(
    @Param() path: Record<string, string>,
    @Query() query: ModelProvidersQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): JsonText<Page<ProviderOffer>> | undefined {
    return this.answer(request, reply, (reader) => this.models.providersOf(reader, idOf(path), query));
  }

  /** Reads a model at list price, without a credential. */
  @Get(BY_ID)
  one(
    @Param() path: Record<string, string>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): JsonText<ModelView> | undefined {
    return this.answer(request, reply, (reader) => this.models.record(reader, idOf(path)));
  }

  /** Lists brands and providers with their logos, without a credential. */
  @Get('brands')
  brands(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): JsonText<{ brands: NamedLogo[]; providers: NamedLogo[] }> | undefined {
    return this.answer(request, reply, () => {
      const { brands, providers } = this.models.names();
      const withLogo = ({ slug, name }: { slug: string; name: string }): NamedLogo => ({
        slug,
        name,
        logo: monogram(slug, name),
      });
      return { brands: brands.map(withLogo), providers: providers.map(withLogo) };
    });
  }

  private maxAge(): number {
    const ms = this.models.untilPricesChange();
    return ms === null ? MAX_AGE_SECONDS : Math.min(MAX_AGE_SECONDS, Math.floor(ms / 1_000));
  }

  /** Throws ApiError `rate_limit_exceeded` for an address that asks too often, whatever it asks. */
  private answer(
    request: FastifyRequest,
    reply: FastifyReply,
    read: (reader: Reader) => unknown,
  ): string | undefined {
    this.limit.take(request.clientIp);
    const body = JSON.stringify(read({ caller: null, apiVersion: request.apiVersion }));
    const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    void reply.headers({
      etag,
      'cache-control': `public, max-age=${this.maxAge()}`,
      vary: 'X-Service-Version',
    });
    if (isKnown(request.headers['if-none-match'], etag)) {
      void reply.code(304);
      return undefined;
    }
    void reply.type('application/json; charset=utf-8');
    return body;
  }
}

/** `*`, or a list of tags, weak ones too (RFC 9110, 13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
}
