import { ArrayNotEmpty, IsBoolean, IsOptional, IsString, Matches, ValidateIf } from 'class-validator';
import {
  HOST_AND_PORT,
  IsAddress,
  IsCertificates,
  NotWith,
  OnlyWhere,
  OrFile,
  ToBoolean,
  ToList,
} from '@gateway/platform';
import type { RedisAddress } from './connect-redis.js';

/** Addresses of Redis: one server, a cluster, or a master that sentinels know; with its credentials and TLS. */
export class RedisConfig {
  /** redis[s]://[user:password@]host:port[/database]; not asked for where a cluster or sentinels are named. */
  @OrFile()
  @ValidateIf(
    (config: RedisConfig) => config.REDIS_CLUSTER_NODES === undefined && config.REDIS_SENTINELS === undefined,
  )
  @IsAddress('redis', 'rediss')
  REDIS_URL?: string;
  /** host:port of some nodes of a Redis Cluster; the others are learnt from them. */
  @IsOptional()
  @ToList()
  @ArrayNotEmpty()
  @Matches(HOST_AND_PORT, { each: true })
  @NotWith('REDIS_SENTINELS')
  REDIS_CLUSTER_NODES?: string[];
  /** host:port of some sentinels, which name the master of REDIS_SENTINEL_NAME. */
  @IsOptional()
  @ToList()
  @ArrayNotEmpty()
  @Matches(HOST_AND_PORT, { each: true })
  REDIS_SENTINELS?: string[];
  @IsString() REDIS_SENTINEL_NAME: string = 'mymaster';
  /** Credentials of the sentinels themselves, where they ask for some. */
  @OrFile() @IsOptional() @IsString() REDIS_SENTINEL_PASSWORD?: string;
  /** Take the place of those in REDIS_URL. */
  @IsOptional() @IsString() REDIS_USERNAME?: string;
  @OrFile() @IsOptional() @IsString() REDIS_PASSWORD?: string;
  /** TLS to every node and sentinel; a REDIS_URL that begins with rediss:// means it, too. */
  @ToBoolean() @IsBoolean() REDIS_TLS: boolean = false;
  /** PEM of the authorities that sign the servers' certificates; absent = those that Node brings. */
  @OrFile()
  @IsOptional()
  @IsCertificates()
  @OnlyWhere(hasTls, 'REDIS_TLS, or a REDIS_URL that begins with rediss://')
  REDIS_TLS_CA?: string;
}

function hasTls({ REDIS_TLS, REDIS_URL }: Readonly<RedisConfig>): boolean {
  return REDIS_TLS || (REDIS_URL?.startsWith('rediss:') ?? false);
}

/** The address as `connectRedis` takes it. */
export function redisAddress(config: Readonly<RedisConfig>): RedisAddress {
  const { REDIS_USERNAME: username, REDIS_PASSWORD: password, REDIS_TLS_CA: ca } = config;
  const access = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(hasTls(config) ? { tls: ca === undefined ? {} : { ca } } : {}),
  };
  if (config.REDIS_CLUSTER_NODES !== undefined)
    return { ...access, clusterNodes: config.REDIS_CLUSTER_NODES.map(hostAndPort) };
  if (config.REDIS_SENTINELS !== undefined)
    return {
      ...access,
      sentinels: config.REDIS_SENTINELS.map(hostAndPort),
      name: config.REDIS_SENTINEL_NAME,
      sentinelPassword: config.REDIS_SENTINEL_PASSWORD,
    };
  return { ...access, url: config.REDIS_URL ?? '' };
}

/** An IPv6 address stands in brackets, and without them in what is connected to. */
function hostAndPort(text: string): { host: string; port: number } {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(text.slice(colon + 1)) };
}
