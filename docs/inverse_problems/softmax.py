"""Softmax: logits of given probabilities.

Field: machine learning
Shows: arrays, and a parameter for lost information
Source: J. S. Bridle, Probabilistic interpretation of feedforward network outputs (1990)
Question: Which logits give the probabilities 0.1, 0.2, 0.3 and 0.4?
"""

import numpy as np

from inversion import invert


def softmax(x):
    e = np.exp(x)
    return e / e.sum()


# ---- the question
logits = invert(softmax, np.zeros(4))
probabilities = np.array([0.1, 0.2, 0.3, 0.4])
answers = [tuple(logits(probabilities)[0])]

# ---- the check
print("parameters:", *logits.parameters.names)
print("differences to the first:", *(f"{x:.8f}" for x in np.subtract(answers[0], answers[0][0])))


def holds(*x):
    return bool(np.allclose(softmax(np.array(x)), probabilities, rtol=1e-9))
