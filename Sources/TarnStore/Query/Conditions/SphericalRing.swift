internal import Foundation

/// A point of the unit sphere, or a direction.
struct SphericalVector: Hashable, Sendable {
  var x: Double
  var y: Double
  var z: Double

  init(_ x: Double, _ y: Double, _ z: Double) { (self.x, self.y, self.z) = (x, y, z) }

  init(_ place: GeoPosition) {
    let (latitude, longitude) = (place.latitude * .pi / 180, place.longitude * .pi / 180)
    // So that all longitudes are equal at a pole, and 180 equals -180, to the last bit.
    let across = place.isPole ? 0 : cos(latitude)
    let isOpposite = abs(place.longitude) == 180
    self.init(
      isOpposite ? -across : across * cos(longitude), isOpposite ? 0 : across * sin(longitude),
      sin(latitude))
  }

  static prefix func - (a: SphericalVector) -> SphericalVector { SphericalVector(-a.x, -a.y, -a.z) }
  static func + (a: SphericalVector, b: SphericalVector) -> SphericalVector {
    SphericalVector(a.x + b.x, a.y + b.y, a.z + b.z)
  }

  func dot(_ other: SphericalVector) -> Double { x * other.x + y * other.y + z * other.z }

  func cross(_ other: SphericalVector) -> SphericalVector {
    SphericalVector(
      y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
  }

  var length: Double { dot(self).squareRoot() }
  var unit: SphericalVector {
    let length = self.length
    return SphericalVector(x / length, y / length, z / length)
  }

  /// The great-circle distance in radians: exact for small and for large ones, where the arc cosine
  /// of the dot product is not (W. Kahan, How Futile are Mindless Assessments of Roundoff, 2006).
  func angle(to other: SphericalVector) -> Double { atan2(cross(other).length, dot(other)) }
}

/// A closed line of great-circle arcs. It divides the sphere in two; its inside is the smaller
/// part, whatever the winding, and if both are equal, the part on the left.
///
/// Whether a point is inside is found by following the meridian from it to a pole that lies away
/// from the line: each arc crossed on the way changes the side. An arc includes the meridian on
/// which it begins, seen from the west, and excludes the one on which it ends, so that one of two
/// arcs that meet is counted.
struct SphericalRing: Sendable {
  enum Side { case inside, outside, border }

  /// A point this near to an arc is on it: some micrometres on the earth.
  private static let nearness = 1e-12

  private struct Arc: Sendable {
    var start: SphericalVector
    var end: SphericalVector
    /// To the left of the direction from start to end.
    var left: SphericalVector
    /// Longitudes around the pole.
    var west = 0.0
    var east = 0.0
    var goesEast = false

    init(_ start: SphericalVector, _ end: SphericalVector) {
      (self.start, self.end) = (start, end)
      left = start.cross(end).unit
    }

    /// From the arc, at most a quarter of the circle.
    func distance(to point: SphericalVector) -> Double {
      isBeside(point)
        ? asin(min(1, abs(left.dot(point)))) : min(start.angle(to: point), end.angle(to: point))
    }

    /// True if the nearest point of the great circle is on the arc.
    private func isBeside(_ point: SphericalVector) -> Bool {
      left.cross(start).dot(point) >= 0 && end.cross(left).dot(point) >= 0
    }

    func isNear(_ point: SphericalVector) -> Bool {
      abs(left.dot(point)) <= SphericalRing.nearness
        && distance(to: point) <= SphericalRing.nearness
    }

    func spans(_ longitude: Double) -> Bool {
      west <= east
        ? west <= longitude && longitude < east : longitude >= west || longitude < east
    }

    /// True if the pole is on the other side of the great circle.
    func isPoleward(of point: SphericalVector) -> Bool {
      let side = left.dot(point)
      return goesEast ? side < 0 : side > 0
    }
  }

  /// Two directions at right angles to the pole and to each other.
  private let (first, second): (SphericalVector, SphericalVector)
  private let arcs: [Arc]
  private let poleIsInside: Bool

  init(_ places: [GeoPosition]) throws(GeoMistake) {
    var arcs = try Self.arcs(places)
    try SphericalCrossings.check(arcs.map { ($0.start, $0.end) })
    let pole = Self.pole(awayFrom: arcs)
    let helper = abs(pole.x) < 0.6 ? SphericalVector(1, 0, 0) : SphericalVector(0, 1, 0)
    first = pole.cross(helper).unit
    second = pole.cross(first)
    var (turns, area) = (0.0, 0.0)
    for index in arcs.indices {
      let (start, end) = (arcs[index].start, arcs[index].end)
      let (a, b) = (Self.longitude(start, first, second), Self.longitude(end, first, second))
      let turn = remainder(b - a, 2 * .pi)
      arcs[index].goesEast = turn > 0
      (arcs[index].west, arcs[index].east) = turn > 0 ? (a, b) : (b, a)
      turns += turn
      area += Self.area(pole, start, end)
    }
    self.arcs = arcs
    // The area of the line is on its left, or is everything except that.
    let areaOfLeft = area > 0 ? area : 4 * .pi + area
    let leftIsInside = areaOfLeft <= 2 * .pi + 1e-9
    let goesAroundPole = abs(turns) > .pi
    let poleIsLeft = goesAroundPole ? turns > 0 : area < 0
    poleIsInside = poleIsLeft == leftIsInside
  }

  private static func arcs(_ places: [GeoPosition]) throws(GeoMistake) -> [Arc] {
    guard places.count >= 4 else {
      throw GeoMistake("a ring needs at least four places, the last one equal to the first")
    }
    let points = places.map { SphericalVector($0) }
    guard points.first == points.last else {
      throw GeoMistake(
        "a ring must end where it begins: its first place is \(places[0]), its last one "
          + "\(places[places.count - 1])")
    }
    guard Set(points).count >= 3 else {
      throw GeoMistake("a ring needs at least three different places")
    }
    var arcs: [Arc] = []
    for (index, (start, end)) in zip(points, points.dropFirst()).enumerated() where start != end {
      guard (start + end).length > nearness else {
        throw GeoMistake(
          "no line is the shortest from \(places[index]) to \(places[index + 1]), which is "
            + "opposite: put a place between them")
      }
      arcs.append(Arc(start, end))
    }
    return arcs
  }

  /// The point, of some distributed over the sphere, that is farthest from the nearest arc,
  /// together with its antipode.
  private static func pole(awayFrom arcs: [Arc]) -> SphericalVector {
    let count = 24
    var best = (distance: -1.0, pole: SphericalVector(0, 0, 1))
    for index in 0..<count {
      // A spiral over half of the sphere, which does not align with any regular grid of places.
      let z = 0.987_654_321 * (Double(index) + 0.5) / Double(count)
      let longitude = 2.399_963_229 * Double(index) + 0.123_456_789
      let across = (1 - z * z).squareRoot()
      let pole = SphericalVector(across * cos(longitude), across * sin(longitude), z)
      var distance = Double.infinity
      for arc in arcs where distance > best.distance {
        distance = min(distance, arc.distance(to: pole), arc.distance(to: -pole))
      }
      if distance > best.distance { best = (distance, pole) }
    }
    return best.pole
  }

  private static func longitude(
    _ point: SphericalVector, _ first: SphericalVector, _ second: SphericalVector
  ) -> Double { atan2(point.dot(second), point.dot(first)) }

  /// The area of a spherical triangle, negative if clockwise (A. van Oosterom and J. Strackee, The
  /// Solid Angle of a Plane Triangle, 1983).
  private static func area(
    _ a: SphericalVector, _ b: SphericalVector, _ c: SphericalVector
  ) -> Double {
    2 * atan2(a.dot(b.cross(c)), 1 + a.dot(b) + b.dot(c) + c.dot(a))
  }

  func side(of point: SphericalVector) -> Side {
    let longitude = Self.longitude(point, first, second)
    var isInside = poleIsInside
    for arc in arcs {
      if arc.isNear(point) { return .border }
      if arc.spans(longitude), arc.isPoleward(of: point) { isInside.toggle() }
    }
    return isInside ? .inside : .outside
  }
}

extension SphericalRing {
  /// Checks that rings are holes of this one: each lies inside, and no two of all rings cross or
  /// have a side in common.
  func check(holes: [SphericalRing]) throws(GeoMistake) {
    if holes.isEmpty { return }
    let arcs = (holes + [self]).flatMap(\.arcs).map { ($0.start, $0.end) }
    try SphericalCrossings.check(arcs, "the rings of a polygon must not cross each other")
    var sides: Set<Set<SphericalVector>> = []
    for (start, end) in arcs where !sides.insert([start, end]).inserted {
      throw GeoMistake("two rings of a polygon must not have a side in common")
    }
    for hole in holes {
      // The beginning and the middle of each side: a corner may touch this ring.
      let places = hole.arcs.flatMap { [$0.start, ($0.start + $0.end).unit] }
      let found = places.map(side(of:))
      guard !found.contains(.outside), found.contains(.inside) else {
        throw GeoMistake("a hole must be inside the outer ring")
      }
    }
  }
}

/// Finds arcs that cross each other.
private enum SphericalCrossings {
  /// Sweeps from the south to the north: only arcs whose heights overlap are compared.
  static func check(
    _ arcs: [(start: SphericalVector, end: SphericalVector)],
    _ message: String = "the lines of a ring must not cross each other"
  ) throws(GeoMistake) {
    let spans = arcs.map { arc in
      // Every point of an arc is at most as far from its middle as its ends are.
      let middle = (arc.start + arc.end).unit
      let radius = (middle + -arc.start).length + 1e-12
      return (low: middle.z - radius, high: middle.z + radius)
    }
    let order = arcs.indices.sorted { spans[$0].low < spans[$1].low }
    var open: [Int] = []
    for index in order {
      open.removeAll { spans[$0].high < spans[index].low }
      for other in open where cross(arcs[index], arcs[other]) {
        throw GeoMistake(message)
      }
      open.append(index)
    }
  }

  /// True if each of two arcs separates the ends of the other. Arcs that touch do not cross.
  private static func cross(
    _ a: (start: SphericalVector, end: SphericalVector),
    _ b: (start: SphericalVector, end: SphericalVector)
  ) -> Bool {
    // Ignore signs that only rounding decides.
    func side(_ x: SphericalVector, _ y: SphericalVector, _ z: SphericalVector) -> Double {
      let side = x.cross(y).dot(z)
      return abs(side) < 1e-15 ? 0 : side
    }
    let turns = [
      -side(a.start, a.end, b.start), side(a.start, a.end, b.end),
      -side(b.start, b.end, a.end), side(b.start, b.end, a.start),
    ]
    return turns.allSatisfy { $0 > 0 } || turns.allSatisfy { $0 < 0 }
  }
}
