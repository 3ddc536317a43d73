import { Module } from '@nestjs/common';
import { WorkersConsumer } from './workers.consumer.js';

/** Needs the global PlatformModule. Has no endpoints and no tables yet. */
@Module({ controllers: [WorkersConsumer] })
export class WorkersModule {}
