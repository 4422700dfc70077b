"""Sentences to begin with: words of several senses, and a few topics. A line that ends with a colon names a sense."""

# the word stands about equally early in every sense: before the first layer its place is all that tells uses apart
SENSES = {
    "bank": """river:
He sat on the bank of the river and fished all morning.
The boat was tied to a post on the muddy bank.
The bank was covered with reeds and yellow flowers.
They swam across and climbed up the other bank.
On the bank two herons stood and watched the water.
After the rain the stream rose over its bank and into the field.

money:
She went to the bank on Monday and opened an account.
The family paid the loan back to the same bank.
The bank was closed because of the crisis.
He took his savings out of a small bank in town.
At the bank two clerks counted coins and notes.
After the robbery the manager had to close the bank for a week.""",
    "bat": """animal:
A bat flew out of the cave at dusk to hunt insects.
From a branch the bat hung upside down and slept.
With its ears the bat finds a moth in the dark.
The bat spread its wings and dropped from the roof.
We found a small brown bat under the roof.
At night the bat catches flies above the pond.

sport:
A bat lay on the grass beside the ball and the gloves.
For the game she bought a new wooden bat and a ball.
With both hands he swung the bat and hit the ball.
The bat broke when the ball hit it.
The player leaned on his bat and waited for the pitch.
At practice the bat slipped out of his hands.""",
    "spring": """season:
The trees bloom in spring when the days grow warm.
Every spring the birds come back from the south.
We planted beans and peas last spring in the garden.
The snow melted early in the spring of that year.
In spring the farmers plough their fields.

water:
They drank cold water from a spring in the hills.
The spring behind the house never dries up.
The village grew around a hot spring near the lake.
A stream begins at a spring below the rocks.
From the spring clear water ran down the slope.

coil:
He took the pen apart and lost the spring in the grass.
The spring of the old clock is broken.
The door is held shut by a steel spring under the lock.
When you press the spring it pushes the lid up again.
A spring made of wire is stretched by a weight.""",
    "mouse": """animal:
The cat caught a mouse in the barn.
A mouse ran across the kitchen floor and hid under the stove.
In the grass the little mouse built its nest from wool.
The owl heard a mouse under the snow.
The mouse ate the cheese and the bread.

computer:
She bought a new mouse for the computer.
The mouse moves the arrow across the screen.
With the left mouse button you can choose a file.
The keyboard works but the mouse is broken.
Move the mouse until the arrow is over the picture.""",
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
