import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { downConvert } from '@gateway/api-version';
import {
  ApiError,
  HEADER,
  ignoredNames,
  ObjectStore,
  uuidv7,
  VideosQuery,
  type Clock,
  type IdempotencyClaim,
  type ObjectKey,
  type Random,
} from '@gateway/contracts';
import { IdempotencyTable } from '@gateway/database';
import { Access, CLOCK, keyOf, RANDOM, idempotent } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { forgetBegun, noteBegun } from '../idempotency/answer-claim.js';
import { WorkersConfig } from '../workers.config.js';
import { VideoRunner } from './video-runner.js';
import { VideoWork } from './video-work.js';
import { VideoStore, type VideoTask } from './video.store.js';

/** Two hours: what no provider needs. */
const LIFE_MS = 7_200_000;
const LINK_MS = 86_400_000;
const FIRST_BY_REQUEST = '2026-09';

/** Video tasks of the key that began them. */
@Controller(['v1/video/generations', 'openai/v1/video/generations'])
@Access({ key: { permission: 'videos:write' } })
export class VideoController {
  constructor(
    private readonly tasks: VideoStore,
    private readonly work: VideoWork,
    private readonly runner: VideoRunner,
    private readonly objects: ObjectStore,
    private readonly config: WorkersConfig,
    private readonly idempotency: IdempotencyTable,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Begins a video; its task is polled. */
  @Post()
  @HttpCode(200)
  async create(
    @Body() body: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const { clock, idempotency: store } = this;
    const answer = await idempotent({ store, clock }, request, async (claim) => {
      const { shown, ignored } = await this.begin(body, request, claim);
      if (ignored.length > 0) reply.header(HEADER.ignoredParams, ignoredNames(ignored));
      return { status: 200, body: shown };
    });
    return answer.body;
  }

  /** Lists the video tasks of the key, the newest first. */
  @Get()
  async list(@Query() query: VideosQuery, @Req() request: FastifyRequest): Promise<object> {
    const rows = await this.tasks.list(keyOf(request).keyId, query);
    const shown = rows.slice(0, query.limit);
    const data = await Promise.all(shown.map((row) => this.view(row, request)));
    const [first, last] = [shown.at(0)?.id ?? null, shown.at(-1)?.id ?? null];
    return { object: 'list', data, first_id: first, last_id: last, has_more: rows.length > shown.length };
  }

  /** Reads a video task, with the addresses of its result once there is one. */
  @Get(':id')
  async read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<object> {
    const isByRequest = request.apiVersion >= FIRST_BY_REQUEST;
    const task = await this.tasks.read(keyOf(request).keyId, id, isByRequest);
    if (task === null)
      throw new ApiError('not_found', { message: `No video task with id ${id.slice(0, 80)} was found.` });
    // The provider's own 404, for as long as the task is read.
    if (task.error?.code === 'provider_resource_not_found')
      throw new ApiError('provider_resource_not_found', { message: task.error.message });
    return this.view(task, request);
  }

  private async begin(
    body: Record<string, unknown>,
    request: FastifyRequest,
    claim: IdempotencyClaim | null,
  ): Promise<{ shown: object; ignored: readonly string[] }> {
    const { keyId: key_id, accountId: account_id, orgId: org_id } = keyOf(request);
    const now = new Date(this.clock.now());
    // What it may hold is the edge's to say; this member is the gateway's own.
    const { $task: _ours, ...asked } = body ?? {};
    const { model, metadata } = asked;
    const task: VideoTask = {
      ...NEW,
      ...{ id: `vid_${uuidv7(this.clock, this.random)}`, key_id, account_id, org_id },
      ...{ request_id: request.id, model: typeof model === 'string' ? model : '', body: asked },
      metadata: typeof metadata === 'object' ? (metadata as Record<string, unknown> | null) : null,
      ...{ created_at: now, updated_at: now, expires_at: new Date(now.getTime() + LIFE_MS) },
    };
    const { worker } = this.runner;
    // Longer than that of a task that runs: its provider has to take it first.
    const leaseMs = 4 * this.config.WORKERS_LEASE_MS;
    const asBegun = await this.view(task, request);
    await this.tasks.add(task, { worker, leaseMs }, (client) => noteBegun(client, claim, asBegun));
    let known: Awaited<ReturnType<VideoWork['begin']>>;
    try {
      known = await this.work.begin(task);
    } catch (rejection) {
      await this.tasks.remove(task.id, (client) => forgetBegun(client, claim));
      throw rejection;
    }
    // Else its lease ends by itself: the task is there, and who began it is to know.
    await this.tasks.release(task.id, worker).catch(() => undefined);
    this.runner.wake();
    return { shown: await this.view(known.begun, request), ignored: known.ignored };
  }

  private async view(task: VideoTask, { apiVersion }: FastifyRequest): Promise<object> {
    const { id, request_id, model, status, error, metadata, seconds, object_key } = task;
    const url = object_key === null ? null : await this.objects.link(object_key as ObjectKey, LINK_MS);
    const video = url === null ? null : { url, duration: seconds, width: null, height: null, fps: null };
    const shown = {
      ...{ id, request_id, object: 'video.generation', model, status },
      progress: status === 'completed' ? 100 : null,
      created_at: unix(task.created_at),
      updated_at: unix(task.updated_at),
      completed_at: unix(task.completed_at),
      expires_at: unix(task.expires_at),
      ...{ video, error },
      usage: {
        ...(seconds === null ? {} : { seconds }),
        byok_used: task.credential?.includes('#') ?? false,
        fallback_triggered: false,
      },
      metadata,
    };
    return downConvert('video_task', shown, apiVersion);
  }
}

const NEW = {
  status: 'queued',
  credential: null,
  provider_task_id: null,
  unit: 0,
  // It is asked for as soon as its row is there.
  is_asked: true,
  object_key: null,
  seconds: null,
  error: null,
  completed_at: null,
} as const;

function unix(at: Date | null): number | null {
  return at === null ? null : Math.floor(at.getTime() / 1_000);
}
