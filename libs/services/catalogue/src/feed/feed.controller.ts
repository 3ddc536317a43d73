import { Body, Controller, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import {
  PendingChangesBody,
  PendingChangesQuery,
  SyncCatalogueBody,
  type CatalogueFeedState,
  type CatalogueSync,
  type PendingChange,
} from '@gateway/contracts';
import { changePct } from '@gateway/money';
import { Access, pageOf, type Page } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { CatalogueFeed } from './catalogue-feed.js';
import type { FeedChange } from './feed-change.js';
import { FeedStore } from './feed-store.js';

/** Changes that wait for a super admin, with the document that they are of. */
interface PendingPage extends Page<PendingChange> {
  change_id: string | null;
  version: number | null;
  created_at: string | null;
}

/** The signed catalogue, for super admins. */
@Controller('v1/admin/catalogue')
@Access({ superAdmin: true })
export class FeedController {
  constructor(
    private readonly feed: CatalogueFeed,
    private readonly store: FeedStore,
  ) {}

  /** Says what is read, what of it is served and how the last reading ended. */
  @Get('feed')
  state(): Promise<CatalogueFeedState> {
    return this.feed.state();
  }

  /** Reads the feed now. A dry run answers what would change. */
  @Post('sync')
  @HttpCode(200)
  sync(@Body() body: SyncCatalogueBody, @Req() request: FastifyRequest): Promise<CatalogueSync> {
    return this.feed.sync(body, request);
  }

  /** Lists the changes that wait for a super admin. */
  @Get('pending')
  async pending(@Query() { model, limit, offset }: PendingChangesQuery): Promise<PendingPage> {
    const { changeId, document, changes } = await this.store.pending();
    const found = changes.filter((change) => model === undefined || change.model === model);
    const rows = found.slice(offset, offset + limit).map(viewOf);
    return {
      change_id: changeId,
      version: document?.version ?? null,
      created_at: document?.createdAt ?? null,
      ...pageOf(rows, found.length, { limit, offset }),
    };
  }

  /** Applies changes that wait. */
  @Post('pending/apply')
  @HttpCode(200)
  apply(@Body() body: PendingChangesBody, @Req() request: FastifyRequest): Promise<CatalogueSync> {
    return this.store.settle('apply', body, request);
  }

  /** Takes changes off the list without applying them. */
  @Post('pending/dismiss')
  @HttpCode(200)
  dismiss(@Body() body: PendingChangesBody, @Req() request: FastifyRequest): Promise<CatalogueSync> {
    return this.store.settle('dismiss', body, request);
  }
}

function viewOf({ model, kind, fields, prices }: FeedChange): PendingChange {
  return {
    ...{ model, kind, fields },
    prices: prices.map(({ provider, upstream_model, window, field, from, to }) => ({
      ...{ provider, upstream_model, window, field, from, to, change_pct: changePct(from, to) },
    })),
  };
}
