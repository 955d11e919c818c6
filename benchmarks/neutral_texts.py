"""Forty short pieces of everyday prose without any personal data, written for measuring drift on neutral text."""

from __future__ import annotations

NEUTRAL_TEXTS: tuple[str, ...] = (
    "Bread dough rises because yeast turns sugar into gas. In a warm kitchen this takes about an hour; in a cold one "
    "it can take the whole night.",
    "The tide comes in twice a day, and the small boats in the harbour lift and settle with it.",
    "A bicycle chain lasts longer when it is wiped dry after rain and oiled a little at a time.",
    "Most trees in the park lose their leaves before winter, but the holly by the gate stays green all year.",
    "To boil an egg well, lower it into simmering water, wait seven minutes, and cool it under the tap.",
    "The library is quiet in the morning. By the afternoon the reading room fills with students, and every chair near "
    "the windows is taken.",
    "Glass is made by melting sand with soda and lime, then cooling it slowly so that it does not crack.",
    "Cats sleep for much of the day and hunt when the light is low.",
    "When the bus is late, people first look at their watches, then at the road, and finally at each other.",
    "A good map leaves out almost everything. What remains is chosen for the traveller: roads, rivers, bridges and the "
    "names of places.",
    "Wool keeps warm even when it is damp, which is why sailors have always liked it.",
    "The old clock in the station runs four minutes fast, and the regular passengers have learnt to forgive it.",
    "Rice should be rinsed until the water runs clear, then left to stand before it is cooked.",
    "Sound travels faster through water than through air, and faster still through steel.",
    "After the storm the street was covered in small branches, and the children built a dam across the gutter.",
    "Learning an instrument is mostly repetition: slow scales, short pieces, the same hard bar again and again.",
    "Paint dries from the outside in, so a thick coat may feel firm while it is still soft beneath.",
    "The moon has no light of its own. We see the part of it that the sun happens to shine on.",
    "A recipe is a set of instructions, but a cook reads it as advice.",
    "Bees find their way home by the position of the sun and by landmarks that they have seen before.",
    "The river is low in summer, and stones that nobody remembers appear in the middle of it.",
    "A sentence can be correct and still be hard to read. Shorter words and a clear order usually help.",
    "Salt lowers the temperature at which water freezes, which is why it is spread on icy roads.",
    "The bakery opens before dawn. By seven the first trays are empty and the smell has reached the corner.",
    "Football is simple to explain and difficult to play well, which may be why so many people watch it.",
    "A tent should be pitched on high, even ground, with the door turned away from the wind.",
    "Computers store numbers as patterns of two states. With enough of them, pictures and music can be stored too.",
    "The market sells onions by the sack and saffron by the gram.",
    "Most plants on a windowsill die of too much water and not of too little.",
    "Chess has few rules. The number of possible games is nevertheless larger than anyone could ever play.",
    "Trains slow down before a curve, because the rails can hold only so much force to the side.",
    "It is easier to keep a room tidy than to make it tidy, as everyone knows and few remember.",
    "Volcanic soil is rich in minerals, and farmers return to the slopes soon after an eruption.",
    "The museum has moved its largest paintings to the ground floor, where the ceiling is higher.",
    "A kite needs a steady wind, a light frame and somebody patient at the other end of the string.",
    "Tea and coffee both contain caffeine; tea gives it up more slowly.",
    "When two colours of light are mixed the result is brighter, and when two paints are mixed it is darker.",
    "The bridge was closed for repairs all spring, so the village shop on the far bank lost half its customers.",
    "A dictionary records how words are used. It does not decide how they must be used.",
    "Clouds form when warm, moist air rises and cools. If the drops grow heavy enough, they fall as rain.",
)
