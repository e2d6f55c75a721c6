import TarnStore
