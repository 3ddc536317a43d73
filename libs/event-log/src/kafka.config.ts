import {
  ArrayNotEmpty,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateIf,
} from 'class-validator';
import {
  HOST_AND_PORT,
  IsCertificates,
  IsReadableFile,
  OnlyWhere,
  OrFile,
  ToBoolean,
  ToList,
  ToNumber,
} from '@gateway/platform';
import type { KafkaAccess } from './kafka-client.js';

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const;

const hasPassword = ({ KAFKA_SASL_MECHANISM: mechanism }: KafkaConfig): boolean =>
  mechanism === 'plain' || (mechanism?.startsWith('scram-') ?? false);

/** A credential is looked at where the mechanism needs it, and where it is there without one that does. */
function asksOrGives(name: 'KAFKA_SASL_USERNAME' | 'KAFKA_SASL_PASSWORD'): (config: KafkaConfig) => boolean {
  return (config) => hasPassword(config) || config[name] !== undefined;
}

/** Addresses of Kafka, and the credentials of this process. */
export class KafkaConfig {
  /** host:port of some brokers; the others are learnt from them. */
  @ToList() @ArrayNotEmpty() @Matches(HOST_AND_PORT, { each: true }) KAFKA_BROKERS!: string[];
  /** Time for which a consumer that died owns its partitions: until then nobody reads them. */
  @ToNumber() @IsInt() @Min(6_000) @Max(300_000) KAFKA_SESSION_TIMEOUT_MS: number = 30_000;
  @ToBoolean() @IsBoolean() KAFKA_TLS: boolean = false;
  /** PEM of the authorities that sign the brokers' certificates; absent = those that Node brings. */
  @OrFile()
  @IsOptional()
  @IsCertificates()
  @OnlyWhere(({ KAFKA_TLS }: KafkaConfig) => KAFKA_TLS, 'KAFKA_TLS')
  KAFKA_TLS_CA?: string;
  /** Absent = none is asked for. */
  @IsOptional() @IsIn(MECHANISMS) KAFKA_SASL_MECHANISM?: (typeof MECHANISMS)[number];
  @ValidateIf(asksOrGives('KAFKA_SASL_USERNAME'))
  @IsString()
  @OnlyWhere(hasPassword, 'KAFKA_SASL_MECHANISM plain or scram-…')
  KAFKA_SASL_USERNAME?: string;
  @OrFile()
  @ValidateIf(asksOrGives('KAFKA_SASL_PASSWORD'))
  @IsString()
  @OnlyWhere(hasPassword, 'KAFKA_SASL_MECHANISM plain or scram-…')
  KAFKA_SASL_PASSWORD?: string;
  /** File with the token for oauthbearer, read again at each connection, because a token expires soon. */
  @ValidateIf(({ KAFKA_SASL_MECHANISM: mechanism }: KafkaConfig) => mechanism === 'oauthbearer')
  @IsReadableFile()
  KAFKA_SASL_TOKEN_FILE?: string;
}

/** The brokers and the access as `kafkaClient` takes them; may be sent to a worker thread. */
export function kafkaAccess(config: Readonly<KafkaConfig>): KafkaAccess {
  const { KAFKA_TLS_CA: ca } = config;
  return {
    brokers: [...config.KAFKA_BROKERS],
    ...(config.KAFKA_TLS ? { tls: ca === undefined ? {} : { ca } } : {}),
    ...(config.KAFKA_SASL_MECHANISM === undefined ? {} : { sasl: saslOf(config) }),
  };
}

function saslOf(config: Readonly<KafkaConfig>): KafkaAccess['sasl'] {
  const { KAFKA_SASL_MECHANISM: mechanism = 'plain' } = config;
  if (mechanism === 'oauthbearer') return { mechanism, tokenFile: config.KAFKA_SASL_TOKEN_FILE ?? '' };
  const { KAFKA_SASL_USERNAME: username = '', KAFKA_SASL_PASSWORD: password = '' } = config;
  return { mechanism, username, password };
}
