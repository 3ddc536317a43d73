import { ArrayNotEmpty, IsBoolean, IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import {
  IsAddress,
  IsDnsServers,
  OrFile,
  PLACE_AND_PORT,
  PORT_NUMBER,
  ToBoolean,
  ToList,
  ToNumber,
} from '@gateway/platform';

const BASE64_32_BYTES = /^[A-Za-z0-9+/]{43}=$/;
const PORTS = 'from 1 to 65535';
const PLACE_WANTED = { each: true, message: `each value in $property must be host:port, the port ${PORTS}` };
const PORT_WANTED = { each: true, message: `each value in $property must be a port ${PORTS}` };

/** The key that signing secrets are sealed with, of the environment or of NOTIFICATIONS_SECRETS_FILE. */
export class NotificationsSecretsConfig {
  /** Base64 of 32 bytes: seals the signing secrets of webhooks. */
  @OrFile() @IsOptional() @Matches(BASE64_32_BYTES) NOTIFICATIONS_KEK?: string;
  /** The one before, or the one to come: opens what it sealed. A start puts that under the first. */
  @OrFile() @IsOptional() @Matches(BASE64_32_BYTES) NOTIFICATIONS_KEK_PREVIOUS?: string;
  /** JSON {kek}; read where the variable is absent. */
  @IsOptional() @IsString() NOTIFICATIONS_SECRETS_FILE?: string;
  /** Makes the file where it is absent. For a single process with its own data folder. */
  @ToBoolean() @IsBoolean() NOTIFICATIONS_SECRETS_CREATE: boolean = false;
}

/** Settings of the notifications service. */
export class NotificationsConfig extends NotificationsSecretsConfig {
  /** postgresql://…; the tables live in the schema "notifications" of this database. */
  @OrFile() @IsAddress('postgres', 'postgresql') NOTIFICATIONS_DATABASE_URL!: string;
  @ToNumber() @IsInt() @Min(2) @Max(200) NOTIFICATIONS_DATABASE_CONNECTIONS: number = 10;
  /** Applies missing migrations at start. In a fleet a job does it, and the service refuses an unknown schema. */
  @ToBoolean() @IsBoolean() NOTIFICATIONS_MIGRATE_AT_START: boolean = false;

  /**
   * Address at which recipients reach the gateway: the links in confirmations begin with it, without a slash at the
   * end.
   */
  @Matches(/^https?:\/\/[^\s]+[^\s/]$/) ALERTS_PUBLIC_URL: string = 'http://127.0.0.1:8080';

  /** Organization of the operator, whose channels are told of the platform's own: thresholds of budgets of providers. */
  @IsOptional() @Matches(/^org_[\w-]{1,76}$/) ALERTS_PLATFORM_ORG_ID?: string;

  /** Private destinations, `host:port` each, that webhooks may reach all the same: the operator's own network. */
  @ToList() @Matches(PLACE_AND_PORT, PLACE_WANTED) ALERTS_ALLOW_PRIVATE: string[] = [];
  /** Ports that a webhook may name. */
  @ToList() @ArrayNotEmpty() @Matches(PORT_NUMBER, PORT_WANTED) ALERTS_PORTS: string[] = [
    '80',
    '443',
    '8080',
    '8443',
  ];
  /** DNS servers that resolve destinations, `address[:port]`; default: the machine's. */
  @ToList() @IsDnsServers() ALERTS_DNS_SERVERS: string[] = [];
}
