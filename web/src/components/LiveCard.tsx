import { memo, useRef } from 'react'
import { useNear } from '../lib/useNear'
import { MachineCard, type CardProps } from './MachineCard'

/** What is worth drawing a card that nobody sees: the keyboard and screen readers reach it. */
function saysTheSame(one: CardProps, other: CardProps): boolean {
  return one.machine.name === other.machine.name && one.machine.state === other.machine.state && one.machine.ongoing_events === other.machine.ongoing_events
}

/** The card of a machine, drawn with every reading only while it is on the screen or near it. */
export const LiveCard = memo(function LiveCard(props: CardProps) {
  const { ref, isNear } = useNear<HTMLLIElement>()
  const drawn = useRef(props)
  if (isNear || !saysTheSame(drawn.current, props)) drawn.current = props
  return <MachineCard ref={ref} {...drawn.current} />
})
