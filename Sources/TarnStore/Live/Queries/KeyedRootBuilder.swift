/// Makes a keyed root of a scan's matches, which are bitmaps like those of the root: if a cluster's
/// keys have no gaps, sixty-four rows are added at once.
package struct KeyedRootBuilder {
  private var blocks: ContiguousArray<LabelBlock> = []
  /// False if clusters were out of order, as in a damaged file.
  private var isAscending = true

  package init() {}

  /// Adds the rows of a cluster that have a bit in `matches`; clusters are in order.
  package mutating func append(_ image: ClusterImage, _ matches: UnsafePointer<UInt64>) {
    let words = image.bitmapWords
    guard image.hasDenseKeys else {
      unsafe Bitmap.forEach(matches, words) { slot in
        let key = OrderedRoot.biased(image.key(at: slot))
        append(key >> 6, 1 << (key & 63))
      }
      return
    }
    let first = OrderedRoot.biased(image.key(at: 0))
    let shift = first & 63
    for index in 0..<words {
      let word = unsafe matches[index]
      if word == 0 { continue }
      let order = (first >> 6) &+ UInt64(index)
      append(order, word << shift)
      if shift > 0 { append(order &+ 1, word >> (64 &- shift)) }
    }
  }

  @inline(__always)
  private mutating func append(_ order: UInt64, _ bits: UInt64) {
    if bits == 0 { return }
    if let last = blocks.last, last.order >= order {
      if last.order == order {
        blocks[blocks.count - 1].bits |= bits
        return
      }
      isAscending = false
    }
    blocks.append(LabelBlock(order: order, bits: bits))
  }

  package consuming func root() -> OrderedRoot {
    if !isAscending {
      radixSort(&blocks) { $0.order }
      var merged: ContiguousArray<LabelBlock> = []
      for block in blocks {
        if merged.last?.order == block.order {
          merged[merged.count - 1].bits |= block.bits
        } else {
          merged.append(block)
        }
      }
      blocks = merged
    }
    return OrderedRoot(.keyed(OrderStatisticTree(ascending: blocks)))
  }
}
