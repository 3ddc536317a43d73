import { Inject, Injectable } from '@nestjs/common';
import { ObjectStore, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, RANDOM } from '@gateway/platform';
import { UndiciTransport } from '@gateway/upstream';
import { EdgeConfig } from '../config/edge.config.js';
import { Credentials } from './credentials.js';
import { PlatformPools } from '../config/platform-pools.js';
import { ProviderAlarms } from './provider-alarms.js';

/** The way to the providers, which all attempts take. */
@Injectable()
export class Upstream {
  constructor(
    readonly credentials: Credentials,
    readonly pools: PlatformPools,
    readonly transport: UndiciTransport,
    readonly alarms: ProviderAlarms,
    readonly objects: ObjectStore,
    readonly config: EdgeConfig,
    @Inject(CLOCK) readonly clock: Clock,
    @Inject(RANDOM) readonly random: Random,
  ) {}
}
