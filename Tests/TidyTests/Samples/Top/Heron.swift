extension Pond {
  struct Heron {}

  var heronCount: Int { depth }
  func sway() -> Int { depth }
}

extension Swaying {
  /// What a protocol has for all of its types is fulfilled where they conform.
  func rest() -> Int { 0 }
}

func wadeThrough(_ pond: Pond) -> Int { pond.depth }

struct Dam {
  var height: Int
}
