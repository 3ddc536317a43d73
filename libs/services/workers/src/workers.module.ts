import { Module, type DynamicModule } from '@nestjs/common';
import { BackgroundResponses, IdempotencyStore, ResponseStore } from '@gateway/contracts';
import { databaseProvider, IdempotencyTable, poolStatements } from '@gateway/database';
import { outboxRelay } from '@gateway/event-log';
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
        databaseProvider(
          WorkersDatabase,
          { schemaDir: SCHEMA_DIR, schema: SCHEMA, migrates: config.WORKERS_MIGRATE_AT_START },
          { url: config.WORKERS_DATABASE_URL, maxConnections: config.WORKERS_DATABASE_CONNECTIONS },
        ),
        {
          provide: IdempotencyTable,
          inject: [WorkersDatabase],
          useFactory: ({ pool }: WorkersDatabase) => new IdempotencyTable(poolStatements(pool)),
        },
        { provide: IdempotencyStore, useExisting: IdempotencyTable },
        StoredResponses,
        { provide: ResponseStore, useExisting: StoredResponses },
        ConversationStore,
        FileStore,
        BatchStore,
        BatchAnswers,
        UpstreamWork,
        BatchWork,
        BatchRunner,
        UpstreamRunner,
        VideoStore,
        VideoWork,
        VideoRunner,
        BackgroundStore,
        { provide: BackgroundResponses, useExisting: BackgroundStore },
        BackgroundWork,
        BackgroundRunner,
        UploadRoute,
        outboxRelay(WorkersDatabase, 'workers'),
        Expiry,
        OpenWork,
      ],
      exports: [ResponseStore, BackgroundResponses, IdempotencyStore],
    };
  }
}
