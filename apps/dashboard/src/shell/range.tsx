import { Button, Group, NativeSelect, Popover, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { IconCalendar } from '@tabler/icons-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { dayOf, dayStart, minuteLabel } from '../format/time.js';
import { useOwnZone, useZone } from '../session/me.queries.js';
import { keepRange, type Places } from './keep-range.js';
import { useOrg } from './org.queries.js';
import { useParamsOfUrl, type Params } from './search-params.js';
import { instantOf, isInstant } from './span.js';

const RANGES = [
  { value: '1h', label: '1 h', hours: 1 },
  { value: '24h', label: '24 h', hours: 24 },
  { value: '7d', label: '7 d', hours: 168 },
  { value: '30d', label: '30 d', hours: 720 },
] as const;

/** Months of the calendar of the zone: that of now up to now, and the whole one before it. */
const MONTHS = [
  { value: 'month', label: 'This month' },
  { value: 'last-month', label: 'Last month' },
] as const;
type MonthName = (typeof MONTHS)[number]['value'];

type HoursName = (typeof RANGES)[number]['value'];
export type RangeName = HoursName | MonthName;

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

function monthOf(text: string | undefined): MonthName | undefined {
  return MONTHS.find(({ value }) => value === text)?.value;
}

/** The range of hours that the URL names; what is no range is the default. */
function rangeOf(text: string | undefined, otherwise: HoursName): (typeof RANGES)[number] {
  return (
    RANGES.find(({ value }) => value === text) ?? RANGES.find(({ value }) => value === otherwise) ?? RANGES[1]
  );
}

/** Its beginning as an instant, on a whole minute: reads of the same minute share one answer. */
export function sinceOf(range: { hours: number }, nowMs: number): string {
  const minute = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  return new Date(minute - range.hours * HOUR_MS).toISOString();
}

export interface Range {
  since: string;
  /** The last instant; absent = up to now. */
  until?: string;
  hours: number;
}

/** The range of that name in the URL, or the default. */
export function rangeNameOf(url: Params, otherwise: HoursName): RangeName {
  return monthOf(url.range) ?? rangeOf(url.range, otherwise).value;
}

/** Returns the first day of the month of an instant in a zone, or of one so many months before it. */
function firstOfMonth(nowMs: number, zone: string, monthsBefore: number): string {
  const [year, month] = dayOf(new Date(nowMs).toISOString(), zone).split('-').map(Number);
  return new Date(Date.UTC(year, month - 1 - monthsBefore, 1)).toISOString().slice(0, 10);
}

/** Returns a month of the zone: that of now up to now, or the whole one before it. */
function rangeOfMonth(name: MonthName, zone: string, nowMs: number): Range {
  const startOf = (monthsBefore: number): number =>
    Date.parse(dayStart(firstOfMonth(nowMs, zone, monthsBefore), zone) ?? '');
  const sinceMs = startOf(name === 'month' ? 0 : 1);
  const endMs = name === 'month' ? nowMs : startOf(0);
  const range = { since: new Date(sinceMs).toISOString(), hours: (endMs - sinceMs) / HOUR_MS };
  return name === 'month' ? range : { ...range, until: new Date(endMs - 1).toISOString() };
}

/**
 * Returns the range of the URL: days of the zone, both included, the time between two instants, a month of the zone, or
 * the hours up to now.
 */
export function rangeOfUrl(url: Params, otherwise: HoursName, zone: string, nowMs: number): Range {
  const since = instantOf(url.from ?? '', zone);
  const end = instantOf(url.to ?? '', zone, 1);
  if (since !== null && end !== null && since < end) {
    const endMs = Date.parse(end);
    // The API covers the instant that it is given.
    return { since, until: new Date(endMs - 1).toISOString(), hours: (endMs - Date.parse(since)) / HOUR_MS };
  }
  const month = monthOf(url.range);
  if (month !== undefined) return rangeOfMonth(month, zone, nowMs);
  const range = rangeOf(url.range, otherwise);
  return { since: sinceOf(range, nowMs), hours: range.hours };
}

/**
 * Returns the range to compare with: as much of the month before for a month that has not ended; the whole month before
 * for a whole one; else the same time that ends where the range begins.
 */
export function rangeBefore(
  url: Params,
  { since, hours }: Range,
  zone: string,
): { since: string; until: string } {
  const sinceMs = Date.parse(since);
  const isByDay = url.from !== undefined && url.to !== undefined;
  const month = isByDay ? undefined : monthOf(url.range);
  const lengthMs = hours * HOUR_MS;
  const startMs =
    month === undefined
      ? sinceMs - lengthMs
      : Date.parse(dayStart(firstOfMonth(sinceMs, zone, 1), zone) ?? '');
  const endMs = month === 'month' ? Math.min(startMs + lengthMs, sinceMs) : sinceMs;
  // The API covers the instant that it is given.
  return { since: new Date(startMs).toISOString(), until: new Date(endMs - 1).toISOString() };
}

export function RangePicker({ otherwise }: { otherwise: HoursName }): ReactNode {
  const [url] = useParamsOfUrl();
  const pick = usePick(otherwise);
  const isByDay = url.from !== undefined && url.to !== undefined;
  const month = isByDay ? undefined : monthOf(url.range);
  return (
    <Group gap="xs" wrap="nowrap">
      <SegmentedControl
        aria-label="Range"
        size="sm"
        data={RANGES.map(({ value, label }) => ({ value, label }))}
        value={isByDay || month !== undefined ? '' : rangeOf(url.range, otherwise).value}
        onChange={(range) => pick({ range })}
      />
      <Days isActive={isByDay} month={month} pick={pick} />
    </Group>
  );
}

type Picked = { range: string } | { from: string; to: string; zone: string };

const inBrowser = (): Places => ({ tab: sessionStorage, browser: localStorage });

/** Puts into the address what was picked by hand, and keeps it for the links of the menu. */
function usePick(otherwise: HoursName): (picked: Picked) => void {
  const { slug } = useOrg();
  const [, change] = useParamsOfUrl();
  const [zone, own] = [useZone(), useOwnZone()];
  return (picked) => {
    // UTC is what an address without a zone means to whom it is the own.
    const named = 'from' in picked ? picked.zone : zone === 'UTC' && own === 'UTC' ? null : zone;
    keepRange(inBrowser, slug, { ...picked, ...(named === null ? {} : { zone: named }) });
    const isOwn = 'range' in picked && picked.range === otherwise;
    change({ from: null, to: null, range: null, ...(isOwn ? {} : picked), zone: named });
  };
}

interface DaysProps {
  isActive: boolean;
  /** The month that is shown, if one is. */
  month: MonthName | undefined;
  pick: (picked: Picked) => void;
}

const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A month, or any days, both included, of a zone. */
function Days({ isActive, month, pick }: DaysProps): ReactNode {
  const [url] = useParamsOfUrl();
  const zone = useZone();
  const zones = [...new Set([zone, useOwnZone(), 'UTC', BROWSER_ZONE])];
  const [isOpen, setOpen] = useState(false);
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [ofZone, setOfZone] = useState(zone);
  const open = (): void => {
    setOfZone(zone);
    setFrom(dayField(url.from, zone));
    setTo(dayField(url.to, zone));
    setOpen(!isOpen);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    pick({ from, to, zone: ofZone });
    setOpen(false);
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus withArrow>
      <Popover.Target>
        <Button
          variant={isActive || month !== undefined ? 'light' : 'default'}
          px="sm"
          leftSection={<IconCalendar size={16} />}
          onClick={open}
        >
          {isActive ? `${shownPart(url.from, zone)} – ${shownPart(url.to, zone)}` : monthWords(month)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={submit}>
          <Stack gap="sm">
            <Months
              shown={month}
              onPick={(range) => {
                pick({ range });
                setOpen(false);
              }}
            />
            <TextInput
              type="date"
              label="From"
              required
              value={from}
              onChange={({ currentTarget }) => setFrom(currentTarget.value)}
            />
            <TextInput
              type="date"
              label="To"
              required
              min={from}
              value={to}
              onChange={({ currentTarget }) => setTo(currentTarget.value)}
            />
            <NativeSelect
              label="Days of"
              data={zones}
              value={ofZone}
              onChange={({ currentTarget }) => setOfZone(currentTarget.value)}
            />
            <Button type="submit">Show</Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

function monthWords(month: MonthName | undefined): string {
  return MONTHS.find(({ value }) => value === month)?.label ?? 'Days';
}

interface MonthsProps {
  shown: MonthName | undefined;
  onPick: (month: MonthName) => void;
}

function Months({ shown, onPick }: MonthsProps): ReactNode {
  return (
    <Group grow gap="xs">
      {MONTHS.map(({ value, label }) => (
        <Button
          key={value}
          size="xs"
          variant={value === shown ? 'light' : 'default'}
          onClick={() => onPick(value)}
        >
          {label}
        </Button>
      ))}
    </Group>
  );
}

/** A part of the range as a date field takes it. */
function dayField(text: string | undefined, zone: string): string {
  return isInstant(text) ? dayOf(text, zone) : (text ?? '');
}

/** A part of the range in words. */
function shownPart(text: string | undefined, zone: string): string {
  return isInstant(text) ? minuteLabel(text, zone) : (text ?? '');
}
