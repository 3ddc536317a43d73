import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import {
  BackgroundResponses,
  IdempotencyStore,
  Inference,
  ObjectStore,
  ResponseStore,
  type Clock,
  type Random,
} from '@gateway/contracts';
import { IdempotencyTable, openSchema, poolStatements } from '@gateway/database';
import { outboxRelay } from '@gateway/event-log';
import { CLOCK, LOGGER, Pressure, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import { Expiry } from './background/expiry.js';
import { OpenWork } from './background/open-work.js';
import { BatchAnswers } from './batches/batch-answers.js';
import { BatchRunner } from './batches/batch-runner.js';
import { BatchWork } from './batches/batch-work.js';
import { BatchesController } from './batches/batches.controller.js';
import { BatchStore } from './batches/batches.store.js';
import { UpstreamRunner } from './batches/upstream-runner.js';
import { UpstreamWork } from './batches/upstream-work.js';
import { ConversationsController } from './conversations/conversations.controller.js';
import { ConversationStore } from './conversations/conversations.store.js';
import { FilesController } from './files/files.controller.js';
import { FileStore } from './files/files.store.js';
import { UploadRoute } from './files/upload-route.js';
import { ObjectsController } from './objects/objects.controller.js';
import { SCHEMA, SCHEMA_DIR, WorkersDatabase } from './postgres/workers-database.js';
import { BackgroundRunner } from './responses/background/background-runner.js';
import { BackgroundWork } from './responses/background/background-work.js';
import { BackgroundStore } from './responses/background/background.store.js';
import { InternalIdempotencyController } from './idempotency/internal-idempotency.controller.js';
import { InternalBackgroundController } from './responses/background/internal-background.controller.js';
import { InternalResponsesController } from './responses/internal-responses.controller.js';
import { ResponsesController } from './responses/responses.controller.js';
import { StoredResponses } from './responses/responses.store.js';
import { VideoRunner } from './video/video-runner.js';
import { VideoWork } from './video/video-work.js';
import { VideoController } from './video/video.controller.js';
import { VideoStore } from './video/video.store.js';
import { WorkersConfig } from './workers.config.js';
import { WorkersConsumer } from './workers.consumer.js';

/**
 * Module of all work and content that outlives a request. Needs the global PlatformModule and the ObjectStore; provides
 * ResponseStore to everybody.
 */
@Module({})
export class WorkersModule {
  static with(config: Readonly<WorkersConfig>): DynamicModule {
    return {
      module: WorkersModule,
      global: true,
      controllers: [
        WorkersConsumer,
        ResponsesController,
        InternalResponsesController,
        InternalBackgroundController,
        InternalIdempotencyController,
        ConversationsController,
        ObjectsController,
        FilesController,
        BatchesController,
        VideoController,
      ],
      providers: [
        { provide: WorkersConfig, useValue: config },
        {
          provide: WorkersDatabase,
          inject: [LOGGER],
          useFactory: (logger: Logger) => openDatabase(config, logger),
        },
        {
          provide: IdempotencyTable,
          inject: [WorkersDatabase],
          useFactory: ({ pool }: WorkersDatabase) => new IdempotencyTable(poolStatements(pool)),
        },
        { provide: IdempotencyStore, useExisting: IdempotencyTable },
        ...RESPONSE_PROVIDERS,
        {
          provide: ConversationStore,
          inject: [WorkersDatabase, CLOCK, RANDOM],
          useFactory: (database: WorkersDatabase, clock: Clock, random: Random) =>
            new ConversationStore(database, clock, random),
        },
        {
          provide: FileStore,
          inject: [WorkersDatabase, CLOCK, RANDOM],
          useFactory: (database: WorkersDatabase, clock: Clock, random: Random) =>
            new FileStore(database, clock, random),
        },
        ...batchProviders(config),
        ...VIDEO_PROVIDERS,
        ...BACKGROUND_PROVIDERS,
        UploadRoute,
        outboxRelay(WorkersDatabase, 'workers'),
        Expiry,
        OpenWork,
      ],
      exports: [ResponseStore, BackgroundResponses, IdempotencyStore],
    };
  }
}

function batchProviders(config: Readonly<WorkersConfig>): Provider[] {
  const { WORKERS_BATCH_LINES: linesAtOnce, WORKERS_UPSTREAM_BATCHES: usesUpstream } = config;
  return [
    {
      provide: BatchStore,
      inject: [WorkersDatabase, CLOCK, RANDOM],
      useFactory: (database: WorkersDatabase, clock: Clock, random: Random) =>
        new BatchStore(database, clock, random),
    },
    {
      provide: BatchAnswers,
      inject: [WorkersDatabase],
      useFactory: (database: WorkersDatabase) => new BatchAnswers(database),
    },
    {
      provide: UpstreamWork,
      inject: [BatchStore, BatchAnswers, FileStore, ObjectStore, Inference, CLOCK],
      useFactory: (
        batches: BatchStore,
        answers: BatchAnswers,
        files: FileStore,
        objects: ObjectStore,
        inference: Inference,
        clock: Clock,
      ) => new UpstreamWork({ batches, answers, files, objects, inference, clock, linesAtOnce }),
    },
    {
      provide: BatchWork,
      inject: [BatchStore, BatchAnswers, UpstreamWork, FileStore, ObjectStore, Inference, CLOCK],
      useFactory: (
        batches: BatchStore,
        answers: BatchAnswers,
        upstream: UpstreamWork,
        files: FileStore,
        objects: ObjectStore,
        inference: Inference,
        clock: Clock,
      ) =>
        new BatchWork({
          ...{ batches, answers, upstream, files, objects, inference, clock },
          ...{ linesAtOnce, usesUpstream, turnMs: config.WORKERS_LEASE_MS },
        }),
    },
    BatchRunner,
    UpstreamRunner,
  ];
}

const VIDEO_PROVIDERS: Provider[] = [
  {
    provide: VideoStore,
    inject: [WorkersDatabase, CLOCK, RANDOM],
    useFactory: (database: WorkersDatabase, clock: Clock, random: Random) =>
      new VideoStore(database, clock, random),
  },
  {
    provide: VideoWork,
    inject: [VideoStore, ObjectStore, Inference, CLOCK],
    useFactory: (tasks: VideoStore, objects: ObjectStore, inference: Inference, clock: Clock) =>
      new VideoWork({ tasks, objects, inference, clock }),
  },
  VideoRunner,
];

const RESPONSE_PROVIDERS: Provider[] = [
  {
    provide: StoredResponses,
    inject: [WorkersDatabase, CLOCK],
    useFactory: (database: WorkersDatabase, clock: Clock) => new StoredResponses(database, clock),
  },
  { provide: ResponseStore, useExisting: StoredResponses },
];

const BACKGROUND_PROVIDERS: Provider[] = [
  {
    provide: BackgroundStore,
    inject: [WorkersDatabase, StoredResponses, CLOCK],
    useFactory: (database: WorkersDatabase, responses: StoredResponses, clock: Clock) =>
      new BackgroundStore(database, responses, clock),
  },
  { provide: BackgroundResponses, useExisting: BackgroundStore },
  {
    provide: BackgroundWork,
    inject: [BackgroundStore, Inference, CLOCK, Pressure],
    useFactory: (tasks: BackgroundStore, inference: Inference, clock: Clock, pressure: Pressure) =>
      new BackgroundWork({ tasks, inference, clock, pressure }),
  },
  BackgroundRunner,
];

async function openDatabase(config: Readonly<WorkersConfig>, logger: Logger): Promise<WorkersDatabase> {
  await openSchema({
    url: config.WORKERS_DATABASE_URL,
    schemaDir: SCHEMA_DIR,
    schema: SCHEMA,
    migrates: config.WORKERS_MIGRATE_AT_START,
    report: (line) => logger.info(line),
  });
  return new WorkersDatabase({
    url: config.WORKERS_DATABASE_URL,
    maxConnections: config.WORKERS_DATABASE_CONNECTIONS,
    onIdleError: (error) => logger.warn({ err: error }, 'an idle connection to PostgreSQL was lost'),
  });
}
