import { Stack, Text, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { FormEnd } from '../shell/form-end.js';
import { useSetPrice, type AdminRoute, type Price } from './models.queries.js';

/** Rates that are not text stay as they are: windows, tools, a matrix. */
const FIRST = ['prompt_usd_per_1m', 'completion_usd_per_1m'];

/** Returns the rates of a price that are typed as text, those of tokens first. */
function ratesOf(price: Price): [field: string, rate: string][] {
  const rates = Object.entries(price).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[0].includes('_usd_'),
  );
  return rates.toSorted(([a], [b]) => Number(FIRST.includes(b)) - Number(FIRST.includes(a)));
}

interface PriceFormProps {
  model: string;
  route: AdminRoute;
  onClose: () => void;
}

/** Form of the price of one route. It is saved whole, because rates of two sources are no price that anybody sells. */
export function PriceForm({ model, route, onClose }: PriceFormProps): ReactNode {
  const [rates, setRates] = useState(() => ratesOf(route.price));
  const set = useSetPrice(model, route);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const { effective_date: _since, ...kept } = route.price;
    const typed = rates.map(([field, rate]) => [field, rate.trim() === '' ? null : rate.trim()]);
    set.mutate({ ...kept, ...Object.fromEntries(typed) } as Price, { onSuccess: onClose });
  };
  const windows = route.price.windows?.length ?? 0;
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          USD. It holds from now on, whatever the release or the feed says, until it follows them again.
          {windows > 0 && ' Prices of other hours stay as they are.'}
        </Text>
        {rates.map(([field, rate]) => (
          <TextInput
            key={field}
            label={field.replace('_usd_', ' ').replaceAll('_', ' ')}
            inputMode="decimal"
            value={rate}
            onChange={({ currentTarget }) =>
              setRates(rates.map((one) => (one[0] === field ? [field, currentTarget.value] : one)))
            }
          />
        ))}
        <FormEnd write={set} action="Save" />
      </Stack>
    </form>
  );
}
