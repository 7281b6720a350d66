"""The hook tool client without a libc: an ELF program per processor, base64 of zlib.

Written by `make toolclient` from contrib/toolclient/client.c; never by hand.
"""

from __future__ import annotations

SOURCE = "ddd86132ed50773203f2723e14c6f12bdf8dd31b7d1f25a191ee0bd6b893c933"  # SHA-256 of client.c

PROGRAMS = {
    "x86_64": (
        "eNq9FmtsU1X4tOu28pBbIGCGqFdTo1PYKM7Ilml6pRdOsQPdA42A2LUXqXS9y+0pkzhhWiseSv+piYmJ/jDGxH/+0FpjV1q2"
        "oRIkwwAJCdNE5chlQDSwAXPX79zewVh8/TCepP0e53t/3zn37JEDa+w2G5padvQo4hRDXpP2WvznZl0XAd4qVAH/VajSlK1E"
        "05f3JjjP0puCyFUGXK8KfqLFF2u8N8Hry2W7Se/Jn0i4Cv37ZakhzyimZ3Dyx4tMswNV6GuuRqQSGwX9UqkNh4wvuBucGib3"
        "yJ5h2VOQPV9helKoxMnxCXIGpwp7HGMn9dnYNohri/pxT2FTiX1qGAamk/12rkqL+mfZTLUXJQ2RyHvuyD5j4nNIY/YlE7uF"
        "1CcNe9YLhL40+47J205uy35iYiqZnzTc2VanF+UGgIMFuViS2v10ov8kkB2YXmrD9BjbCz4D9AzbY/q+wHpMOPJFM+/ZC0D0"
        "j4A4e45jPCWezI18MD0uVOo6mw3bdChVILcyDGjue9Dp/4G7pYPsdeCUML2C6Rg7Ngnm0x6cukyWeYZxY5EIvn2OW32rHIsT"
        "i7BR1M/1NS9+JDEbZ9oX2/qaEDCTB5z6YdNi/jwP5WEzwqMlKPL1UDwFq7KjvLILyv7HTP/HWRVXMOucOFKSNuYckIbsuSx1"
        "SPSS1C7RiY42nDznwhninss+BOH0Zvdc4Rt6CqdOkcYv+Wzl+Rj5oOGNOhbW6JieZS+DYEvqcmIhENb2BWaH9AKhi7hW14s4"
        "edC1aYu0WdoiPQvpT0q5u8GxP3kIwv4qy8fUY+QqAEDoj9guGoZmxS04y3GvnzTrNg6Vbvya3OLd1zzP+0azExsH9PMl6an8"
        "7SAnbYQ0eFchh1fOvQHWAul6f2gAZ6JDLt7P18BIfrlp8QKmPreTabwFmV73kvz7wP48Bjq/fYDpEKYON3vwd9hMju/YuQAi"
        "zq0Fgf4d8MeKnJ9ucMNYct2lMpgO8rqmHe6+VV5ShTOPVeizBn3upQhQO9SXe3Nd71C2FvyYExSgv+ZtyAlp01Jy3N5zFw6N"
        "56ugKVkMu1ZFaClAwcJREBYqU6d2VY+dkuhp/R6cbne7cOjaDbv388MCrVsiVEp0UBo7TTb2KxByeYI/muAxNrvZe4D07+Sp"
        "vAWYD0aRcyBtlpqYGvKXJv5uyHFaRjg54IQJS/yW5Z2SU6NkkT8NRdXn4eTVOxMOkHGCjAunO/jhT/yC6cA+12vDZC7cDH1X"
        "67HgY/r5suWcWCOh/Ku8iTlDgPTngGs8NPQulFWohMORKuB0r9uJBVwc7OPCiL15DSLkKPSB7b1mHllsK7JeQAMZYreDmlGU"
        "Gk/snu9P937nZCHYaMmQKpt+piUTc0hZPqn+V37nQ71zTgC62Amd9dOCJByR6YqWzBMO/9ABmBAo0SG58dvdUSl5xSAP8KOd"
        "HJ8kDY+nyWEnP8mzTO9FvcEcrPPsytUy7TbjY2dNcpJzFphpsJM3ONXSoB35jWKAnvAbB/y2YbYIotD3B+jZAB2kI+xjMJ6z"
        "WZ2tAYYArenrddf4hdRePkj8IvaMSl9yaHbSTw+CtqfgzzQsg+bh2rNT/RuyrobvoaC7a7FtwN84mjjWYhvl2Ycn+PX3M5xh"
        "qAGfhv3AaKEH9U/Ma8IcLMroiHAIpnkJW2gmDUH+/MtGwwqRjphSLAp7dCRvfuzeLuP8Ii/PYQoYwqdw6P50tKZ9X2KqGE+E"
        "tovbIlFFVDUxHNGUEFG1XUhT4mpCCykiUbq6VS2oRaK7xEQsuDMYiQY7owrqVrSuSDweUWNiWIlFlDDq1NQdSkzsjnQrKKTG"
        "YmCJ74IlhYidu8RuRdFu3tiWiINeJNadIPVqggAQFU1TNSS3tm5oFdFs1KNFiAJ+Iy82iUiMqUQEY9ONROJifDvohdWeGAIb"
        "orpN7FK6eArrOtZ1bF29YX27/HT7Vr+vTEtr5fXtW9s2rH5cbt8q+XytclsbahIti03lSsSCXZC4qopRNfa8FUw4EoyagYjT"
        "xVF9t6aG6uNKdFt9qCc88/ttQ//nWrt6dZN4n0/pjARjomdl3cq6Fcs9DQ+ElU7PyoSn1mIhVBffHicaCXaiOqK8SFCdpoaD"
        "JIjqOuNxVBdSu7qUGPlPIpoz7a2Epr3LmEW3VP19veZbPPvUq6zaetdVl+kjMxTEGfo18HPCrwLNeKfNmvE++wv9Oyz/K2bw"
        "p96D9/5Fv6fDij+py0P/oD+1/gDY+5f3"
    ),
    "aarch64": (
        "eNq9V3tMW+cVP9fXYBITRhK6JG06X96MZSR0ZAJUCZtXthA1HXGlaA+BMZfYAnzBNstTwzTVNIn8wS1tk9EmZVsngZdoq5K0"
        "i5YKsk1TplZ70GqqNiWxIQ8SmjYpSYEu2Pud62tq3GyaNGlX+ny+77y+c37fOZ/v7a3bUW8QBIo/BnqTeDVNVm1t1fnl6Usq"
        "4JWTiF8TpWq6KZT4WJfRaTMto0TC0m8q86O6PGpbRpeeTGGZ3beu+VtT6b9/MnX6OAUmQiKpt4heCIsUJKxzXM3l1URbx8Wm"
        "v5GR1AfR6LrUQ9bBFqKzkDci5ayQmBpMSwtMiNA3YqRgIJL3LJn0+ngkarcQ3e0gssN3A/vJJuqHz7c/gq/Fg2OjU9hrEftO"
        "RaNHJ3l+8MJIWBSDVvi/Bh1LgLpDBrIfEchu2RSbW8qoGwDbLWnUbSAawH4D1a/lqdJAjkr07BDvYxkWuq2se17obmY6kKT7"
        "foF6H/6R+gD9Pledjc/nc9Q78fmhXPV2fH4vV70Vn+/OU2/oWHD+I2bOOTBhoM/jMK/neVMUgjdEg5brLQ1f+LmTp44h75C4"
        "MviWRlcEf6NRU/AcqKaTnq++gbkEPK6CxvecNj0ccykaw3wT8OJ9OefqzHyV92V/YcRAWfnqP+BLP4uZvsWonTFbPPjW6Ici"
        "FX8kCsWsH/4Zqc/C96yZFiahP/MV67nbRHdO/aRKTQe/fcX4t79GwxP9qIdZs3Vh8eDvRthPr816NyyuCnrVwaGQmFE8Ka4J"
        "TsD+HejxnGUh8QvFneClI592Yc1SPfC+ezh3gcr6QLkWOQfS8yB/vnoSfK6TWMxjo1ehMwV82TYE+jTk18DrI+uCYKCzS+cO"
        "++yRfOiIwZehU42abqKUGQlYFbhaypsxrhC1W4HhcxJpdcBnOgcqQWa5R902yNhOIkN/NngXItGyeCwc68XHAhPcOy0YNUbt"
        "fJ5fOp8HVa/n/qdzeSdf7UFc7IvPtonEGXS7djZ5Lme50ZVb7sTen2pYnR7lnLKNBZqP2V3C6D3sv9BuHF0AHfqhdX7OKY7e"
        "/45h9OifKvvnchibdcEz8M9296GTXVug8X4J3jzWmr/3C9XfrsJdcFhQr2i1uD74IBI9ajkp3L2JWJbO4mSBGoaMnixUv6H3"
        "Lq9D/YL6Vz4/0VrxifhosYWE7kAK2evTGbPAhIbR+livCMLwx8k1PIv6474eAU4m1EaRyPeSKXghEMOUdYpQ+6wnUExm0Pmn"
        "DfNfvyGubdD6Jq9QnY7E4r8e0XvJVahOaTxT8S2mkc967FIk1mNmxF6fRmq0X6h4Dzg3/8A6GAYWk+g514bP99wN3GuBB9Gt"
        "IeAdikbPfppGZZLJuhA2YKTR2dsartaK7BW0tUOgO0fQO4zzxRWBieb0wPPZxwrhOz04Fe1b3svoYRp+dehVt1QeEh8Jvoz4"
        "+K4MQfcY5k70bgh99CLmZsTbLoj9HBvXxxWD2L4pleye1ZijF92pfP9mBHcjt+vwcQ25cO8WojZ/UUu/ZjyuGEztR3BOk9AL"
        "Qx4S1xZv1M5/bXG4V1Bz+OwYs15bhSVP6B42kV3jARvW+XskppsNDD/U5zbMZ3h+2FYRjN+dqHncbeuqDtFdru1QqnVhrprU"
        "MyxH7FXnqfvU6sDQaawDB5zz3+MzMnJ+1P9H8K7j/vnDcJX6Z8yjRiodRp3wXYGaKR3H/PCBPfPc3zthN5al/S1nMU5TGNvB"
        "+yfsGMMpjHqsubengC9jXB2J17GIdUrwBvb9Ofr8ceDwJsdnGJ4wYf4BdMzIfRXWfYK5/6eC+W2+j4kefieH9P/BU4iP8xgT"
        "zDM28E4t9L7LsX0cid1XYcQ0KZqDH2Bvwj43uf5wTowx38MhJ51jXN/Q4jRr+i9Bx6NIvh6nS2pzd8iS4pVa3V7Z6Ve8+8kr"
        "+5Qer1OW/HJnl+J1eN0d+6Uej+P7DneHo6VDpi7Z2+n2+dyKR2qVPW65lVq8SrvskbrcXTI5FY8HnlgKT7Jfatkvdcmyd7mg"
        "rccHO7enq8e/Wenxg0iy16t4qa6xcWejRCsT1d0+yeeCRquy10N7vW6/jHjc+yolkjyKX8ImBB+S0iZ1yp2cwvZntj/TVLPz"
        "KXvdbnvTN2tja9u2uqfsTbt21jTU2ZtstbWNdbt2UaWk71MZQ8Lj6ETiiiJ1KJ49ejCtbkeHtqGUqE6bu7yKc7NP7mjb7Nzb"
        "Gn+X+n8+8fcw4UAjGfd9SXgs3aLx1mN0fRKNbkzQ24SxD7wdOm+j/jb5K/DymGHLyDxuOCHUXb6UEbdpxjgD+SsJfvwYT6IB"
        "inReFsaPMJ6e033rftj/MMZz4H+X+Tti/G0ZdOkylhLGOA/IAzG7LcdTT6TUDxq3r7x86d0MspnZx1WOFS9EZQm+G/QYWW4E"
        "7FsgP5IgdyTI8yB/ZV6PrWF5DJxPLeQXIZf0fDiv3fpLWLpR8/kX4fijJzbUDq5/YV31j9cMra49mnVs7YtffOmRbTU1lVJR"
        "rdzidnik0idKnijZ8tXSsi/rU6ISn8vn9/odLVTil/f5qcSrtDr8DiqRXU1tXlQalbT4fFTiVDo7ZY//f64Hc8I3ACV8b0zr"
        "6/Om5frGJPvVur1BX7+WZtVpbD2eVOKGJPsNSfaulVadxtaBJPu0JPtcnSdS8vdL8ndL4tfLZ0+RztuSxI9/J1mS+MJDqPgQ"
        "XE36d1rpv7GPP/8C4Y45Sg=="
    ),
}
