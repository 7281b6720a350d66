"""The hook tool client without a libc: an ELF program per processor, base64 of zlib.

Written by `make toolclient` from contrib/toolclient/client.c; never by hand.
"""

from __future__ import annotations

SOURCE = "9e32679f0b01fb0642ec932ae5fb811f8d234d945b0ccd520dc3cb9c9f41816a"  # SHA-256 of client.c

PROGRAMS = {
    "x86_64": (
        "eNq9Vm1sU1UYPu26rXy2gGKGoDemRufH5kWMbJmm1/XKKXagW4dGUezaO6l0vcvtKZOIMK1VD7Xxn9HEH5oYE/+Y6A+tVbvS"
        "yoZfxMyICxCnBuXohUmisAll1/fc3uFY/PphPMntOe973uf9Pqdntxy43W6zoZlhR7ciTjHkNWmvxX9w3nkR4K1FNfBbh2pN"
        "2Vo0e3gvmBdbuJkZuasTx9XBJ1h8ocF7wXx+uG0X4O76nkTq0L8fFgyJJzA9hlNHTzLNDlRxsK0ekVpsFPVT5S4cNt7jZnB6"
        "lFwpi6OyWJTFjzAdc9Xi1FSFHMPp4m7H5Jg+H9uGcWNJPygW7yuztw3DwHR6yM6htKS/k8vWe1HKEIi8+7LcveZ6AWnJPWqu"
        "FpHmlGHPeYHQV+ZeNHlbyaW5t8yVSpakDE+u0+lF+X3AwS65VJaCfloZGgOyG9NTXZh+wZ4GmwF6jO02bf/MBsx5/L02XrOH"
        "gRgaB3H2IF/xkHgwf8SD6UFXra6z+bBNR9JFcgnDsMx/A5ihb7lZOsyeAk4Z098wnWRfTIP6jIjTp8l14ihuKRGXb4/jEt9a"
        "x/Lkxdgo6ccH25bfkpyPs8HltsFWBMzUXqf+qamxMMFdudn08PMyJPm8K2LRyuwJntmlVfuTpv2DrI4DzDwnD5SlTXkHhCGL"
        "p6VuiZ6SghKtdHfh1HE3zhLPQvYaCGc2exa6PqGHcfowafmA91aBt5EPCt6iY9ftOqY/scdAsCN9OrkMCGv7Z2aH8ALhk7hR"
        "10s49aH7vvulzdL90gMQ/rSUvwIM+1P7we2PcrxNRSNfAxO4fovtpGFolt8uZ9XvDdNm3qYg0y0fk0XePW2Lvc+0ObGxV58o"
        "S3cXVoGctAnCCEI1z3Xhx48/A9oCmWZ/eB/Obh5xQx3Zk6CkcL2pcRxTn8fJNF6C7E7PisLLwH43DphfXsV0BFOHh914DjZT"
        "U9u2LwWP8+tAYGgb/LAS52fWeKAtOXalTCdYiOc14/AMrvWSOpy9rUafN+zzrESwtMviUW7Nfb5CuUawY3ZQgH5XsCEnhC3R"
        "kdSUfWAVDk8F6A85DJtWQiTuzucg6aqV08YOpzQ5LtOKfiXOBD1u/6zC567hZwUqt4KDPpQmj5BNQwp4XG3g1yvcxTYPexkW"
        "Q9t5JM/DCippciBq9lRlpsd3Vv6ux3GmBqfKTuiv5K85Xic5fYJchDOyU1+MU2cuTzpwpt0JIm6cWQYHP/kTpuU97idHyUK4"
        "FQbPNGOXb0yfqKrNCw0SKjzBC5g3XAjlFoBdPDLyEqTUVQsHI13EmZ0eJ3bh0vAgF0bshbPgHl9CDVjmrHlMsa3EBmEZyMbs"
        "doAZJanl4K4lgP3SyR6CjY5srNamH+vIKg4px7vU/3iFN/T2BfzQ90JV/bQouT6T6dUd2Tsd/pG90B2Qn/1yy4FdMSn1m0Gu"
        "5cc6NTVN1qzPkM+c/BQvMq2X9DVmU33Nzp2p0h7TPzZhktOcs9QMgx35g1MvDduR3ygF6Fd+Y6/fNsoawAv9WSh2gA77qMHe"
        "AO15m1XXBs5ZApUZ3Olp8LvSlLcRv4bFw9L7fGavmIXcB3ixCIhVcLZHceOhmfqNWDfDOOR0VyO2lf0tR5KjHbajPAGKiZ3A"
        "9BCkgXdDtsKvw336m+YtYTYWHQMXXPuhm1ewZWbghwDyY6cxy8sVIFLtuF6QKHA29/u5szyXRoFf6OwJIFxvw7n70/aa+X+J"
        "q0IiGd4q9EZjiqBqQiSqKWGiajuQpiTUpBZWBKL09ataSIvGdgjJeGh7KBoL9cQU1K9ofdFEIqrGhYgSjyoR1KOp25S40B/t"
        "V1BYjcdBE98FTQoRenYI/YqiXbjRm0wALhrvT5JmNUlgEhRNUzUkd3Zu7BTQfDSgRYkCdqOPtApIiKtEAGWzlUQTQmIr4CLq"
        "QByBDkHtFfqUPh7C+u713VvaN24IyvcEt/h9VVpaJ28Ibuna2H6HHNwi+XydclcXahUsja3VTMRDfRC4qgoxNf6Q5UwkGoqZ"
        "jgizxVFzv6aGmxNKrLc5PBCZ+/9tQ//nWNfe3ipc7VN6oqG4IK5uWt10w/XimmsjSo+4Oik2WiyEmhJbE0QjoR7URJRHCGrS"
        "1EiIhFBTTyKBmsJqX58SJ/+JRwtmvZXQrHcZs+g76/4+X0ssnn3mVVZvvevqq/SBOQBhDr4BPid8NWjOO23enPfZX+Avs+zf"
        "MIc/8x686i/qPXuu+ZO83PQP+JnxO+flmRU="
    ),
    "aarch64": (
        "eNq9V3tMW9cZ/66vwU4MLA+6JH358gqMMRI6MgH/YINJuhA1HXGl7KGBMZdgYXzBNsurGqaZpkjwR25Jk5YlqfeSwl2jqUqy"
        "JFoq6CZNTJ22jnb7p0tiAykkJEsykgId+O53rq+pcbNp0qRd6fg753ud7/ud7zu+t6du13YDx1HiMdAlYqtpsmlrm87fmrGs"
        "Al4F8fg1Ubqmm0bJj20FjVhoBSXiln/T2T5qnDut2lfQ5WcNt8LuGzeDLen03z9rdPoMhcYiPMm3iY5HeVII69y2pooaom0j"
        "fONfyUjyoqpuSH/ZNtBMdBHyBqScHeHTFbM5NMZD34iRhoFIPrSuobdHYqrTSvTAS+SE73rmJ4eoDz7fuwdfS4eHhyaw1xL2"
        "nVDVk+Nsfvjds1GeV2zwfxM61hB1RQzk7OfIaS2Jz63l1AWAnVYzdRmIjmG/YzXH82UhlCsTvTLI9rGGuS4b073KdTUxeixF"
        "d3Sz/Aj+kfoxupAnzybm07ny/cTcmyffTcwn8+Tbifnz+fKUjgXL/6yF5RwaM9DncZjX87zFc8oUb9Byva3hCz+RfHkYeUf4"
        "1co7Gl2l/FqjJuUKqKazmC//CnMBeEyCJvacNj0ec0GNY14CvNi+LOcaKpDZvsxfFDGQsUD+CL70s5jpXVKdDLOlw+8M/Z2n"
        "4ns8V8z0oz8l+RX4nrXQwjj0Z75su3KX6P65H1fLGeC3rxr51lcpPNaHepi12BaWDv/2LPPTY7c9iPKZil8eGIzwWcXj/Dpl"
        "DPZ/gB6bM1mE/0JxB3gZyKedW7dcD2zffSx3jsp7QVktshxIz4NaCuS3wGd1Eo95eGgSOhPAl9lGQF+E/CZ4vWRb4Ax0cfnc"
        "YZ/zegF0eOVH0KlBTTdS2owArDa3NVc0YdwgarcBwx8IpNUBO9M5UAEy60PqskPG7AQy9OWA925MLU/EwmIdfSo0xnqnGaPW"
        "qJ3Pq8vns1j9dt5/OperBXI34mK+2Nk2Ej+DbtfOJr/NXWFsy6twY+9PNazOD7Gcch7Gfczu4YYeYv+FduPQAujgD23zc25+"
        "6NG3DUMn/1jVN5fLsNmgXIB/ZvcIOjnlmzXeL8Gbx1rzN1oo/yYTd8ERTr6h1eJGZTGmnrS+xT24hViWz+LUZjkKGZUUys/r"
        "vcvWkT5O/jM7P95W+Qn/ZLGV0H9p5NyewTALjWkYbYz3CseF/5Faw7OoP9bXR4GTCbVRxLN7yaRwOqZMpwi1z/QMlJDRh+cN"
        "81+b4tfXaz2TXSjfisVjn4rpfbS3UJ7UeKbiGdBo7LP+uh6L91cG4t5uJlnt4yr/Aoybvm8biAKHcfRb26bP99sU7rTQorot"
        "AqwjqnrxUzOVCybbQtSAYaaLdzVMbZU5q2ibl6P7/egbhvHoqtBYU0bo1ZyjhfCdoUyovSv7GP1L4TcH3/QIFRH+CeUU4mP3"
        "ZAS6b2DuRt9G0EMnMLcg3naO72Oxsdq4YeDbS9LJ6VuLOfrQk87u3izlm8jtY/i4iVxY3xaiLn/hoMsMjxsGU3s/zmgcelHI"
        "I/z64me0s19fHO3h5Fz4HmfY9dgrrflcV9hETsZj2DCdj2Jx3RxgeE+f2zG/w+ZH7JVK4t5EveNe21D9Mj1gdR1Jty3M1ZB8"
        "gckRe/VV6jq3NjR4HuvQIff8d9kZGVl+1Pd78D7G3fO7cLX8J8xVI5WFUSPsnkC9lI1gfuTQvnnW2y/CbjibKuL/T5m4GzKV"
        "evD+CTuG4QTGDqxZX08AX4ZxbSxRwzzWacoU9v05evxZ4HCJxWcIj5kxvwMdC3LPxLqXs/T9hLO8x+5iosffxxH9P/Ac4mN5"
        "DHOWGTt45xZ6PmCxzcbid1UUMY3zFuUO9uawzy1WfzgnhjG7gyNuusJwvaTFadH0T0DHJwmBbneb0OrxioLkF1o8ftEdlPwH"
        "yS8GpG6/WxSCYken5Hf5Pd6DQrfP9T2Xx+tq9orUKfo7PIGAR/IJLaLPI7ZQs19qF31Cp6dTJLfk88ETk8KTGBSaDwqdouhf"
        "KWjtDsDO4+vsDm6RuoMgguj3S36qa2jY3SDQ6mR1T0AItEGjRdrvo/1+T1BEPJ4DVQIJPikoYBOCD0FqFTrEDpbCzpd2vtRY"
        "u/sFZ91eZ+PXHfG1fUfdC87GPbtr6+ucjXaHo6Fuzx6qEvR9quJI+FwdSFySBK/k26cH0+JxebUNhWR12tLpl9xbAqK3dYt7"
        "f0viPer/9STev7hDDWQ88Cz3VIZV423EOPCJqj6dpFeCEQJvl857Wn+LvAxePmPYs9acNpzh6q5fy0rYNGFchfxUkp8ghgPF"
        "X6TzsjGOYuyd033rfpj/MEY/+N9h/F1x/o4sunYdSwFjBGMU8lDcbuvp9DNp2weMO1dfv/ZBFtktzMckRj5ehMqTfNfrMTK5"
        "EZBXQN6fJHclyfMh/9m8Hlv9yhhYPg7I34dc0PNhee0F72/gmY2az/e500+e2eQY2Hh8Q80b6wbXOk5mv77+tS+eeGJHbW2V"
        "UOQQmz0un1D2XOlzpVu/Ulb+JX1KVBpoCwT9QVczlQbFA0Eq9UstrqCLSsW2xlY/qoxKmwMBKnVLHR2iL/g/14Ml6d2fkr4z"
        "pvX1ZdNKfWOK/Vrd3qCvw2abTuPrkZTyNqTYb0qxb1pt02l8HUqxN6fY5+k8nlK/W1K/V5K/Wj57inTe1hR+4vvImsLnHkP5"
        "x+Cq6vZl/8Y+8fwLKQY43g=="
    ),
}
