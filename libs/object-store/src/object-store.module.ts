import { Inject, Injectable, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { ObjectStore, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, RANDOM } from '@gateway/platform';
import { FolderStore } from './folder-store.js';
import type { ObjectStoreConfig } from './object-store.config.js';
import { S3Store } from './s3-store.js';

@Injectable()
class ObjectStoreShutdown implements OnApplicationShutdown {
  constructor(@Inject(ObjectStore) private readonly store: ObjectStore) {}

  async onApplicationShutdown(): Promise<void> {
    if (this.store instanceof S3Store) await this.store.close();
  }
}

/** Provides the ObjectStore to everybody. Needs the global PlatformModule. */
@Module({})
export class ObjectStoreModule {
  static with(config: Readonly<ObjectStoreConfig>): DynamicModule {
    return {
      module: ObjectStoreModule,
      global: true,
      providers: [
        {
          provide: ObjectStore,
          inject: [CLOCK, RANDOM],
          useFactory: (clock: Clock, random: Random) => storeOf(config, clock, random),
        },
        ObjectStoreShutdown,
      ],
      exports: [ObjectStore],
    };
  }
}

function storeOf(config: Readonly<ObjectStoreConfig>, clock: Clock, random: Random): ObjectStore {
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  if (bucket === undefined) {
    const { OBJECT_STORE_DIR: folder, OBJECT_STORE_PUBLIC_URL: publicUrl } = config;
    return new FolderStore({ folder, publicUrl, clock, random });
  }
  const { S3_REGION: region, S3_ENDPOINT: endpoint, S3_PATH_STYLE: pathStyle } = config;
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  return new S3Store({ bucket, region, endpoint, pathStyle, credentials, random });
}
