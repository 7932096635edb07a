// SPDX-License-Identifier: Apache-2.0
// Rows of unsupported features. Each feature has a switch that is refused by
// name. The feature's other options have no effect while the switch is off.
#include "io/input/mdp_table_builder.hpp"

namespace parhelion {

void add_special_forces(TableBuilder& t)
{
    t.section("Special forces and ensembles");
    t.refused(never, "walls", {"nwall=0"});
    t.harmless("only with walls, which are refused", "wall-type wall-r-linpot wall-atomtype wall-density wall-ewald-zfac");
    add_accelerated_groups(t);
    add_frozen_groups(t);
    t.refused(never, "a cosine acceleration profile", {"cos-acceleration=0"});
    t.refused(never, "box deformation", {"deform=0", "deform-init-flow=no"});
    add_electric_field(t);
    t.refused(never, "an electric field in the form of old versions", {"E-x=0", "E-xt=0", "E-y=0", "E-yt=0", "E-z=0", "E-zt=0"});
    t.refused(never, "orientation restraints", {"orire=no"}).unless_topology_has_it(&MdpInput::orientation_restraints, {"yes"});
    t.harmless("only with orientation restraints, which are refused", "orire-fc orire-tau orire-fitgrp nstorireout");
    t.harmless("dihedral restraints act where the topology has them", "dihre dihre-fc dihre-tau nstdihreout");
    t.refused(planned, "pulling", {"pull=no"});
    t.harmless(
        "only with pull, which is refused",
        "pull-cylinder-r pull-constr-tol pull-print-com pull-print-com1 pull-print-com2 pull-print-ref-value "
        "pull-print-components "
        "pull-nstxout pull-nstfout pull-pbc-ref-prev-step-com pull-xout-average pull-fout-average pull-ngroups pull-ncoords "
        "pull-group#-name pull-group#-weights pull-group#-pbcatom pull-coord#-type pull-coord#-potential-provider "
        "pull-coord#-geometry pull-coord#-expression pull-coord#-dx pull-coord#-groups pull-coord#-dim pull-coord#-origin "
        "pull-coord#-vec pull-coord#-start pull-coord#-init pull-coord#-rate pull-coord#-k pull-coord#-kB");
    t.refused(never, "the accelerated weight histogram method", {"awh=no"});
    t.harmless("only with awh, which is refused",
               "awh-potential awh-seed awh-nstout awh-nstsample awh-nsamples-update awh-share-multisim awh-share-bias-multisim "
               "awh-nbias "
               "awh#-error-init awh#-growth awh#-growth-factor awh#-equilibrate-histogram awh#-target awh#-target-beta-scaling "
               "awh#-target-cutoff awh#-target-metric-scaling awh#-target-metric-scaling-limit awh#-user-data awh#-share-group "
               "awh#-ndim "
               "awh#-dim#-coord-provider awh#-dim#-coord-index awh#-dim#-start awh#-dim#-end awh#-dim#-diffusion "
               "awh#-dim#-force-constant awh#-dim#-cover-diameter");
    t.refused(never, "enforced rotation", {"rotation=no"});
    t.harmless(
        "only with rotation, which is refused",
        "rot-nstrout rot-nstsout rot-ngroups rot-group# rot-type# rot-massw# rot-vec# rot-pivot# rot-rate# rot-k# rot-slab-dist# "
        "rot-min-gauss# rot-eps# rot-fit-method# rot-potfit-nsteps# rot-potfit-step#");
    t.refused(never, "interactive molecular dynamics", {"IMD-group"});
    t.refused(never, "swapping of ions", {"swapcoords=no"});
    t.harmless(
        "only with swapcoords, which is refused",
        "swap-frequency split-group0 split-group1 massw-split0 massw-split1 solvent-group coupl-steps iontypes iontype#-name "
        "iontype#-in-A iontype#-in-B cyl0-r cyl0-up cyl0-down cyl1-r cyl1-up cyl1-down bulk-offsetA bulk-offsetB threshold");
    t.refused(never, "adaptive resolution", {"adress=no"});
    t.harmless(
        "only with adress, which is refused",
        "adress-type adress-const-wf adress-ex-width adress-hy-width adress-ex-forcecap adress-interface-correction adress-site "
        "adress-reference-coords adress-tf-grp-names adress-cg-grp-names adress-do-hybridpairs");
    t.refused(never, "QM/MM", {"QMMM=no", "qmmm-cp2k-active=false|no"});
    t.harmless("only with QM/MM, which is refused",
               "QMMM-grps QMmethod QMMMscheme QMbasis QMcharge QMmult SH CASorbitals CASelectrons SAon SAoff SAsteps "
               "MMChargeScaleFactor "
               "bOPT bTS qmmm-cp2k-qmgroup qmmm-cp2k-qmmethod qmmm-cp2k-qmfilenames qmmm-cp2k-qmcharge qmmm-cp2k-qmmultiplicity");
    t.refused(never, "forces from a density map", {"density-guided-simulation-active=false|no"});
    t.harmless("only with density-guided simulation, which is refused",
               "density-guided-simulation-group density-guided-simulation-similarity-measure "
               "density-guided-simulation-atom-spreading-weight "
               "density-guided-simulation-force-constant density-guided-simulation-gaussian-transform-spreading-width "
               "density-guided-simulation-gaussian-transform-spreading-range-in-multiples-of-width "
               "density-guided-simulation-reference-density-filename density-guided-simulation-nst "
               "density-guided-simulation-normalize-densities density-guided-simulation-adaptive-force-scaling "
               "density-guided-simulation-adaptive-force-scaling-time-constant density-guided-simulation-shift-vector "
               "density-guided-simulation-transformation-matrix");
    t.refused(never, "collective variables (Colvars)", {"colvars-active=false|no"});
    t.harmless("only with Colvars, which is refused", "colvars-configfile colvars-seed");
    t.refused(never, "neural-network potentials", {"nnpot-active=false|no"});
    t.harmless("only with neural-network potentials, which are refused",
               "nnpot-modelfile nnpot-input-group nnpot-model-input# nnpot-embedding nnpot-nn-charge nnpot-link-type "
               "nnpot-link-distance "
               "nnpot-pair-cutoff");
}

void add_free_energy(TableBuilder& t)
{
    t.section("Free energy and expanded ensemble");
    t.refused(planned, "free energy perturbation", {"free-energy=no"}).unless_topology_has_it(&MdpInput::free_energy, {"yes"});
    t.harmless(
        "only with free-energy, which is refused",
        "couple-moltype couple-lambda0 couple-lambda1 couple-intramol init-lambda init-lambda-state delta-lambda nstdhdl "
        "fep-lambdas "
        "mass-lambdas "
        "coul-lambdas vdw-lambdas bonded-lambdas restraint-lambdas temperature-lambdas calc-lambda-neighbors init-lambda-weights "
        "dhdl-print-energy sc-function sc-alpha sc-power sc-r-power sc-sigma sc-sigma-min sc-coul sc-gapsys-scale-linpoint-lj "
        "sc-gapsys-scale-linpoint-q sc-gapsys-sigma-lj separate-dhdl-file dhdl-derivatives dh-hist-size dh-hist-spacing "
        "foreign-lambda");
    t.refused(never, "simulated tempering", {"simulated-tempering=no"});
    t.harmless("only with simulated tempering, which is refused", "simulated-tempering-scaling sim-temp-low sim-temp-high");
    t.harmless(
        "only with the expanded ensemble, which is refused",
        "nstexpanded lmc-stats lmc-move lmc-weights-equil weight-equil-number-all-lambda weight-equil-number-samples "
        "weight-equil-number-steps weight-equil-wl-delta weight-equil-count-ratio lmc-seed mc-temperature lmc-repeats "
        "lmc-gibbsdelta lmc-forced-nstart symmetrized-transition-matrix nst-transition-matrix mininum-var-min weight-c-range "
        "wl-scale wl-ratio init-wl-delta wl-oneovert init-histogram-counts");

    t.section("Gone from GROMACS");
    t.harmless("an old option without effect in current GROMACS",
               "title cpp domain-decomposition nstcheckpoint warnings bd-temp");
}

} // namespace parhelion
