import type { Provider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Directory, type Clock, type Random } from '@gateway/contracts';
import { OutboxRelay } from '@gateway/event-log';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import { Mirrors } from '../mirror/mirrors.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import type { UsageConfig } from '../usage.config.js';
import { BillingStore } from './billing.store.js';
import { CouponsStore } from './coupons.store.js';
import { Payments } from './payments.js';
import { PaymentsStore } from './payments.store.js';
import { StripeClient } from './stripe-client.js';

/** Returns the providers of payments; without a secret key nobody is charged. */
export function paymentProviders(config: Readonly<UsageConfig>): Provider[] {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_BASE_URL: baseUrl, BILLING_RETURN_URL: returnUrl } = config;
  return [
    BillingStore,
    CouponsStore,
    PaymentsStore,
    {
      provide: Payments,
      inject: [UsageDatabase, PaymentsStore, Mirrors, OutboxRelay, ModuleRef, CLOCK, RANDOM, LOGGER],
      useFactory: (
        database: UsageDatabase,
        store: PaymentsStore,
        mirrors: Mirrors,
        relay: OutboxRelay,
        modules: ModuleRef,
        clock: Clock,
        random: Random,
        logger: Logger,
      ) => {
        const stripe = secretKey === undefined ? null : new StripeClient({ baseUrl, secretKey, random });
        const nudge = (): void => relay.nudge();
        const directory = (): Directory => modules.get<Directory>(Directory, { strict: false });
        const sources = { clock, random, logger };
        return new Payments({ database, store, stripe, returnUrl, mirrors, directory, nudge, ...sources });
      },
    },
  ];
}
