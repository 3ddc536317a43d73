import { Module, type DynamicModule } from '@nestjs/common';
import { WorkersConfig } from './workers.config.js';
import { WorkersConsumer } from './workers.consumer.js';

/** Needs the global PlatformModule. Has no endpoints and no tables yet. */
@Module({})
export class WorkersModule {
  static with(config: Readonly<WorkersConfig>): DynamicModule {
    return {
      module: WorkersModule,
      providers: [{ provide: WorkersConfig, useValue: config }, WorkersConsumer],
    };
  }
}
