"""The hook tool client without a libc: an ELF program per processor, base64 of zlib.

Written by `make toolclient` from contrib/toolclient/client.c; never by hand.
"""

from __future__ import annotations

SOURCE = "e33775619948f050e5ac514598a2d3f864c78568b203d32ed67d14f9987eb92c"  # SHA-256 of client.c

PROGRAMS = {
    "x86_64": (
        "eNq9Vn1sU1UUv+3aUcZHt/EVouJTamCiGyUksGWQPtcHt9CBsg1NAGfXvkml61teb4ElCDW14qPuHxNNNP6p/kuMCZYiXdey"
        "DUTQjAgEVIzB7MrjK1FgwNjz3NdX2BYg/mG8yXbuOfd8n999vXsE7yqzyYSKy4xWIsZR5NJ5lyF3Tb6vArLlqAT+lyKrrmtF"
        "Y5drHL1qQ+MoKi8QZlfKNkW/c13jaXGVm8bZvfIHCZSif78MM+S8gpUhHL94ncpm4LKx+kmIWLGWVW/km7BfO8TC4MQgeU5w"
        "DgrOrOA8hpWzdiuOD4+QIZzI7rHcOquWYVM/rsqpp53ZTXl6QNM0rIz2mJmpklO/SXVMcqG4xhFhz7xUnb6fQmpTm/TdNFIT"
        "18wpDhj1yVSXLttKnkh9qO8kUhHXHKklNhdKfwESbBdyeb7Zo4z0pIBtwcqNJqyconshplcZonv02NfoDp1eOFTPZvYWMD09"
        "oE7fYDtWEivmQT1YOW23qiotg2NlIJElcyiGbToLNj29LKzST98DSR4rt7Fyi54aBfdJJ07cJC84B3Ftjtjd+yxz3Msts6Oz"
        "sJZTL8fqZ6+IluHu5tmmWB0CYbzXpn6ve8ycZKks0zP8MQ9Nvp+KM2t09grrbGUh/hk9/mlaygz0PkdP5vmNaQuUIThv8i28"
        "coNv5pWRliYcv1yOu4ljKv0SlJObHVPtx5XzOHGe1B5m2MowGLlh4LUqtq9SsXKJvg2KjYmb0RnAGMfXqBnK8/qv4ypVzeH4"
        "kfJNW/jN/Bb+dSh/lE8/C4E98aOQ9rEUg6lTS5cAgdRXmK5rmmzkfc3Ie92o3rdh6HTtd2Saa1/9dNf79Tas9apX8/yrmXug"
        "x2+EMpphmveghiMxb3KBx38Ed28eKIch0r3gITPNxtxdwIrbYaNR1v/uXY7KTAzEB8MQ/q/PsTLggTktuwdn8eFt2yvTC+DQ"
        "q9zsWQuU9jO5kgOeWc70KH20HYrnYytdgjJESj3xvhJ1cr/bMROq6zPfH0qqCrzroMmYkA2QY7dCDpZEtsvGK338rV/U+dg/"
        "/ED9eQZ7GEKlV7lktxZUSEuPADkU4Hh+hGEVQAS0ZyNL7RjsWN+ZBKqgB0eKgN0/8jjA4mQJjudtAJbo3ynWdCFxkczEScGm"
        "TsfxO09HLTjZYAOVcpycAbc4egkr+X3l7w6SqXDFY3dqsN19Vr1acJtGc3mUaYN8+LRmRyg1BeLigYHPoEl2K6A8kcXJXQ4b"
        "tuNcf4wpI3r8LqTHttBYmrmr3zlsytGvYevtDpnNYKbl+NozuyvA9icb/RQOGrtDVpM61NgtWvgUg5znnRGGzu1T2A3+BMbk"
        "UbK8/YSgLGzsftniGeiFaUN/jgq1P+wO8fHbGlnE7mh8eJQsXZMkJ2zsSrr06Dl1qQ6SX+lig3fo+dFndHaUSSr1Mqj9gWQS"
        "329GHg2wccaj9XpMg9QLWagfeJXfvUo/aFvob6DNNmmTMd4K+hLMJrbLUeGxJ/YxiLCvqvM8/y2jdFAfZR94cGZB/Sm4qoO4"
        "6lxxggPGRb8AXd1dhU15T+3P0cFG00XWgo9126tYOQeNYHjI6IjpU7/SM7AUAQYf4qMAxUraoJdyDmz+XK9NyLOyALqPjPwz"
        "+q/Y4SLHvtF0P3D2A3CbHgqyh/5+hCUuEvVv5dqDIZGTZC4QlEU/keQuJIsRKSr7RY6IHZ2S7JODoS4uGvZt9wVDvraQiDpF"
        "uSMYiQSlMBcQw0ExgNpkaZsY5jqDnSLyS+EweGKn4EkkXFsX1ymK8viD9mgE7ILhziipkaIECCfKsiQjYcOG9Rs4VIZ2yEEi"
        "QtzgzjoOcWGJcOBsrJNghItsBbuAtCOMwAcntXMdYgcrYU3LmpbWhvXrmoXXmls97gLPrxbWNbc2rW9YKzS38m73BqGpCdVx"
        "hse6QifCvg4oXJK4kBR+00gmEPSF9ES4seqoplOW/DURMdRe498RmNhfE/o/1+qGhjpuoVtsC/rCnHNJ9ZLqxS86ly4KiG3O"
        "JVFnlSFCqDqyNUJk4mtD1UTcSVC1LAV8xIeq2yIRVO2XOjrEMPlPMpoy9i005t1FDX5+6eP7VWHIzAbPnhcFWuBPTjDgJtjP"
        "hT/2NCtBE95hkye8vx5hP8+Iv3iCvPjeW/CIeY+lJQ/py6zJj7cvrn8AgsyI0A=="
    ),
    "aarch64": (
        "eNq9V3tMW+cVP9fXPBIDJQkdpM3mCziUMUpCRybgH2weSZtEzUbcqeoqgTGX2AJssM3yqoRppmkS/MFt0mZjS+puqgRu0VQ1"
        "WROtFbSbqk6N9qDT9seUxIakIdCsMJICLXD3O9fX1HjZNGnSrvT5nO+8z/nO+Xxvb8PBvQZBoPhjoLeId9Nk1fZWnZ6esS4C"
        "WiWJ+E2jVE02hRIf6wZ4yUQbIJGw/pvKftQYdVq1bYDrT7awQe87NwOtqfTfP9k6/CoFJyIiKTNEZ6IihQn7AldzZS3RnnGx"
        "6S9kJGVFVXNTn7OebiG6CH4jUs6JiKnh9PTghAh5I1YKFiL5szmb3hhfU+1movkOIjtsH2A7+UT9sPnhp7C1enJsZAq+VuF3"
        "SlXPTjJ+8t3hqCiGrbB/EzLmIHVHDGQfEMhuLo3h5grqRoHt5nTqNhANwt9g7d1CRYrkK0TPD7Efc0jotrLs20J3M8PBJNni"
        "IuUe7CP1QcopVBbi+OMFylwcv1Kg3Inj9YXKTBwfLlRu6bXg/IdNnHNwwkD/WoclPc/bohC+JRq0XGe0+sKO1aKMIe+IuDn8"
        "jgY3hX+twbTwZUBN5lmL8ivgEupxAzDuczrt/jWX1FjNS1Ev9ss51zZbFPbL9qKIgVotyt9gSz+L2b5V1c41Wz35zsjfRSr5"
        "VBRKWD76C1Keh+0FEy1PQn72G9bLd4jmRl+pUTJAb980/sw3KTTRj35YMFmXV0/+Zpjt9Nqs81ExM+xTTg9FxKySSXFreAL6"
        "VyDHOPMi4gMlnaBlIJ92Yet6P7DfI5y7QBV9gNyLnAPpedBvLcrroHOfxGIeG7kBmSnUl3UjgN8G/yZofWRdFgx0cf3coZ+/"
        "ZIGMGP4pZGrR002UMiuhVkWulspmrOtE7VbU8AcSaX3AZ7oIKIFnvkvdNvBYTyJDfz5o766pFfFYONYPHg5O8Oy0YNUZtfN5"
        "Yf18VmreKPxP57Jjp9KDuNgWn20TibOYdu1sLC5npdFVWOmE78+1Wr05wjnl23dqNhYOCyN34X+53TiyDDj0Q+vSolMcufc9"
        "w8jZ31f3LxZwbXLDF2Cf9e5BJv/MTo32S9CWsNfsFT+ivJeJu+CUoFzXejEvvLKmnjW/LszfRizrZ7GyU4mCRwNFyuP67PI+"
        "0i8of+LzE61Vn4kPlZhJ6Mbs2/dmcM2CE1qN8mKzIgihfyT38AL43IMhw9K3buHO0GYggFldi8WysKbPxaUiZU6jpZUsAt5Z"
        "+3JeZtZi85KHOPamk6L2C1VRnl30WhR5TWJ+XNtj/thHZEXdE0G9Iqp68fN0qpDSrMtRA1Y6Xbyj1cValb+J9nQINDeA3uc6"
        "fbApONGcEXwhf7oI9jLCU2rfxlnEDFLo5aGX3VJlRHww/Bpi4rsuAtlh4E7MXgRz8CpwE2JsF8R+rgWf73WD2F6aSnbvFsSO"
        "WXKn8v35QNiFfD6GjZuIn2fvEfTWa/V0iWtw3ZDWPpBC9knIRcGPiNtKSnl+egWF8QLYnud69dqqzBahO5RGdqZxPZg/o9Vy"
        "W0k+6ram4zbgXzB+ylY1Gr/70LO4m3JrnqN57s1IqnV5sZaUC8xH7DVvU/foluDQm9gHTziXOvlcjJwf9f8OtI9xf7wfqlH+"
        "AFw1UnkI88Czjru8fBz4qRNHlng+m6A3lkOVsf+YTMx3ZvgZ0L6AHtdwCuu72PNsTqG+XOPGtXgfitinhG/B76uY00dRh7c4"
        "PkNoIhf4J5AxIfdM7PsEU//PBdOHfJ8S3f9Ojej/Y6OIj/MYE0yzNtBGl3s/4tgM+n0TRUyToin8CXxng3YbPptxTlxjvkcj"
        "TrrM9+H7WpwmTZ73763FzylLO6eXoOfxSv4ep0tqc3fIktcntbp9sjPg9R0nn+z39vicshSQO7u8PofP3XFc6vE4vu9wdzha"
        "OmTqkn2dbr/f7fVIrbLHLbdSi8/bLnukLneXTE6vxwNLzIUlOSC1HJe6ZNm3kdHW44ee29PVE9jl7QkASLLP5/VRQ2PjoUaJ"
        "NieKu/2S3wWJVu9RDx31uQMy4nEfq5ZI8ngDEpwQbEjeNqlT7uQU9j+1/6mmukNP2huetjc9UR/b2/Y1PGlvOnyo7kCDvclW"
        "X9/YcPgwVUu6n+pYJTyOTiTu9UodXs8RPZhWt6NDcyglitOuLp/Xucsvd7Ttch5tjb8f/b+e+HuVcKKRjMe+JjycYdZoeVih"
        "z1R1R4JcKdYwaAd12g797TACmoUJtqzsc4bzQsO1q1lxnWasG+D/LMFOAKsDA1Gs03KwfoQVXNRt63bYfgjrAujPMv1gjL4v"
        "i65ew1bCGseaAz8Y09t9LvV8yt7Txv2br139KItsJrZxg1XxglORYPuAHiPzjSh5M/gDCXxHAt8C/pUlPbYDG2PgfOrBXwJf"
        "0vPhvJ4GzbisqvhPYZt/FM49dH57/em8M7m1P9k6tKX+bM6Pt734lZce3FdXVy0V18stbodHKn+s7LGy3Y+WV3xdR4nK/C5/"
        "wBdwtFBZQD4WoDKft9URcFCZ7Gpq86HLqKzF76cyp7ezU/YE/ud+MCW801PC98O0vh9M2yhvTNLfousb9P2xdKsOY/vxpPY2"
        "JOlvT9Kv3GzVYWwfTNJPT9Iv1GkiJX+PJH+HJH6NfPkU67TdSfT4d485iS7cB4r3qetfdf3yf6Mff/4J9vcxZQ=="
    ),
}
