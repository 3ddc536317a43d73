import type { Provider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Directory, RequestContents, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import { UsageDatabase } from '../postgres/usage-database.js';
import type { UsageConfig } from '../usage.config.js';
import { checkContentKeks, loadContentKeks } from './content-keys.js';
import { CONTENTS_DIRECTORY } from './contents.controller.js';
import { ContentsStore } from './contents.store.js';

/** Returns the providers that store logged bodies; without a key-encryption key nothing is stored. */
export function contentProviders(config: Readonly<UsageConfig>): Provider[] {
  return [
    {
      provide: ContentsStore,
      inject: [UsageDatabase, CONTENTS_DIRECTORY, CLOCK, RANDOM, LOGGER],
      useFactory: async (
        database: UsageDatabase,
        directory: () => Directory,
        clock: Clock,
        random: Random,
        logger: Logger,
      ) => {
        const keks = loadContentKeks(config, random);
        if (keks === null) logger.info('no USAGE_KEK: bodies that organizations want logged are not kept');
        else await checkContentKeks(database, keks, random);
        return new ContentsStore({ database, keks, directory, clock, random });
      },
    },
    { provide: RequestContents, useExisting: ContentsStore },
    {
      provide: CONTENTS_DIRECTORY,
      inject: [ModuleRef],
      useFactory: (modules: ModuleRef) => (): Directory =>
        modules.get<Directory>(Directory, { strict: false }),
    },
  ];
}
