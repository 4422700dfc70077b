"""Sentences to begin with: words of several senses, and a few topics. A line that ends with a colon names a sense."""

SENSES = {
    "bank": """river:
He sat on the bank of the river and fished all morning.
The boat was tied to a post on the muddy bank.
Reeds and yellow flowers grew along the bank of the stream.
They swam across and climbed up the other bank.
After the rain the water rose over the bank and into the field.
Two herons stood on the bank and watched the water.

money:
She opened an account at the bank on Monday.
The bank lent him money to buy a small house.
My bank pays almost no interest on savings.
He works for a large bank in the city.
The bank charged a fee because the loan was late.
Robbers took the cash of the bank and fled by car.""",
    "bat": """animal:
A bat flew out of the cave at dusk to hunt insects.
The bat hung upside down from a branch and slept.
With its ears the bat finds a moth in the dark.
A small brown bat lives under our roof.
The wings of a bat are skin stretched over long fingers.

sport:
He swung the bat and hit the ball over the fence.
The player leaned on his bat and waited for the pitch.
She bought a new wooden bat before the game.
The ball broke the bat in the last inning.
Hold the bat with both hands and keep your eye on the ball.""",
    "spring": """season:
The trees bloom in spring when the days grow warm.
Last spring we planted beans and peas.
Birds return from the south every spring.
The snow melted early that spring.
In spring the farmers plough their fields.

water:
They drank cold water from a spring in the hills.
The spring behind the house never dries up.
A stream begins at a spring below the rocks.
The village grew around a hot spring.
Clear water rose from the spring and ran down the slope.

coil:
The spring in the old clock is broken.
Press the lid down and the spring pushes it up again.
A steel spring holds the door shut.
The engineer measured how far the spring was stretched.
He took the pen apart and lost the little spring.""",
    "mouse": """animal:
The cat caught a mouse in the barn.
A mouse ran across the kitchen floor and hid under the stove.
The little mouse ate the cheese and the bread.
An owl can hear a mouse under the snow.
The mouse built its nest from grass and wool.

computer:
Click the button with the left key of the mouse.
Move the mouse until the arrow is over the picture.
My keyboard works but the mouse is broken.
She bought a computer with a wireless mouse.
Hold the mouse button down and drag the file to the folder.""",
}

PASSAGE = "\n".join(line for text in SENSES.values() for line in text.splitlines() if line and not line.endswith(":"))

TOPICS = """The orchestra played a slow symphony by a composer from Vienna.
She practised the violin for three hours before the concert.
The singer recorded her second album in a small studio.
A piano stood in the corner and nobody knew how to play it.
The choir sang an old song in four voices.
The team scored twice in the last ten minutes of the match.
Their goalkeeper was injured and had to leave the field.
He won the race although it rained the whole day.
The coach asked the players to train twice a day.
Thousands of fans watched the final in the stadium.
The army crossed the river at night and took the fort.
After the war the king signed a treaty with his enemies.
Soldiers guarded the gates of the city for a month.
The general lost the battle and half of his men.
The rebels burned the bridge before they fled.
Plants turn light, water and air into sugar.
The cell is the smallest living part of the body.
A whale is a mammal that lives in the sea.
Bacteria divide every twenty minutes when it is warm.
The scientist studied how birds find their way at night.
The recipe needs two eggs, flour and a little butter.
He baked bread every morning and sold it at the market.
Boil the potatoes and add salt and cream.
The soup was hot and tasted of garlic.
She cut the apples and put them into the cake."""
