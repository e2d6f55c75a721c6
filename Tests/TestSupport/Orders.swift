extension Array {
  /// The elements in every order, this one first: n! arrays.
  package var orders: [[Element]] {
    if count < 2 { return [self] }
    return indices.flatMap { first in
      var rest = self
      let element = rest.remove(at: first)
      return rest.orders.map { [element] + $0 }
    }
  }
}
